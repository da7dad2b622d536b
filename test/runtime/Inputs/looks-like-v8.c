/* What node and Electron export. */
const char *_ZN2v82V810GetVersionEv(void) { return ""; }
