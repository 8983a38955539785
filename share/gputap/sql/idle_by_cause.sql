-- SPDX-License-Identifier: MIT
-- Why devices were idle between their activities, by cause: table idle of `gputap report`.
--   device    number of the device
--   cause     host, synchronising, launching, .. (docs/guides/idle-time.md)
--   idle_ns   idle time with this cause
--   share     part of the device's idle time, 0 to 1
--   gaps      number of gaps in which the cause occurs
--   max_ns    longest time of this cause in one gap
with by_gap as (
  select device, gap_start_ns, cause, cast(sum(duration_ns) as bigint) as cause_ns
  from idle
  -- neither busy nor idle: recording was paused
  where cause <> 'unrecorded'
  group by device, gap_start_ns, cause
), by_cause as (
  select device, cause,
         cast(sum(cause_ns) as bigint) as idle_ns,
         count(*) as gaps,
         max(cause_ns) as max_ns
  from by_gap
  group by device, cause
)
select device, cause, idle_ns,
       cast(idle_ns as double) / nullif(cast(sum(idle_ns) over (partition by device) as double), 0)
         as share,
       gaps, max_ns
from by_cause
order by idle_ns desc
