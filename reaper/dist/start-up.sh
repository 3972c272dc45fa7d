#!/bin/sh
# For machines without systemd and cron: call it at start-up (rc.local, an entrypoint), or before a
# program that makes sessions. Goes on whatever the sweep finds.
"${BERTH_REAPER:-berth-reaper}" sweep --quiet --time 1m || :
exec "$@"
