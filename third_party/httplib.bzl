"""What every target that includes httplib.h is compiled with: the same for all, or the types in it would differ."""

HTTPLIB_DEFINES = ["CPPHTTPLIB_OPENSSL_SUPPORT"]
