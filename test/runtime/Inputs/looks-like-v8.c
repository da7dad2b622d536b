/* The exports of node and Electron. */
const char *_ZN2v82V810GetVersionEv(void) { return ""; }
