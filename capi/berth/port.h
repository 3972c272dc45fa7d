/* TCP ports on loopback, in the network namespace of the calling thread. Part of berth.h, whose
 * conventions hold. */
#ifndef BERTH_CAPI_BERTH_PORT_H_
#define BERTH_CAPI_BERTH_PORT_H_

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 1 if any server could bind it now, else 0. */
BERTH_API int32_t berth_port_is_free(uint16_t port);
/* 1 if a process has a TCP socket bound to it on any address, else 0. */
BERTH_API int32_t berth_port_is_bound(uint16_t port);
/* One that was free a moment ago. Nothing keeps it so: see leases. */
BERTH_API int32_t berth_port_find_free(uint16_t* port, berth_error** error);
/* Returns as soon as no process has it bound. */
BERTH_API int32_t berth_port_wait_unbound(uint16_t port, int64_t timeout_ms, berth_error** error);

/* A port that no other berth process of this user is given, and that no stranger can bind until it
   is handed over. Freeing it ends the lease, and so does the end of this process. */
typedef struct berth_port_lease berth_port_lease;

/* Leases are kept in the state directory (as for berth_runtime_new). `preferred`: that port and no
   other; 0: any. BERTH_ALREADY_EXISTS if the preferred one is leased or bound. */
BERTH_API int32_t berth_port_lease_new(berth_port_lease** lease, const char* state_dir,
                                       size_t state_dir_size, uint16_t preferred,
                                       berth_error** error);
BERTH_API void berth_port_lease_free(berth_port_lease* lease);
/* Stays the same after release; 0 if it is no lease. */
BERTH_API uint16_t berth_port_lease_port(const berth_port_lease* lease);
/* The socket bound to 127.0.0.1, to listen on. The lease goes on. Once, then
 * BERTH_FAILED_PRECONDITION. */
BERTH_API int32_t berth_port_lease_take_fd(int32_t* fd, berth_port_lease* lease,
                                           berth_error** error);
/* Closes the sockets for a program that binds by itself. The lease goes on. */
BERTH_API int32_t berth_port_lease_release_socket(berth_port_lease* lease, berth_error** error);
/* Ends the lease. A second call does nothing. */
BERTH_API int32_t berth_port_lease_release(berth_port_lease* lease, berth_error** error);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_PORT_H_ */
