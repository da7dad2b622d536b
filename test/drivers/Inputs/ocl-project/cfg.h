#define FROM_HEADER
