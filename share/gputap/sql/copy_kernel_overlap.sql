-- SPDX-License-Identifier: MIT
-- How long each device was busy, and how much of its copies was hidden behind kernels: busy_ns,
-- kernel_ns and copy_ns of table devices of `gputap report`. Times are unions of intervals:
-- activities that overlap are not counted twice.
--   device          number of the device
--   start_ns        start of the first activity, since 1970
--   span_ns         from the first activity's start to the last one's end
--   busy_ns         time in which anything ran; markers and barriers do not count
--   kernel_ns       time in which a kernel ran
--   copy_ns         time in which a copy, a memset, a map or a migration ran
--   overlap_ns      time in which both ran
--   overlap_share   overlap_ns / copy_ns, 0 to 1: the part of the copies that is hidden
with active as (
  select device, start_ns, start_ns + duration_ns as end_ns,
         case when kind in ('kernel', 'native') then start_ns + duration_ns end as kernel_end_ns,
         case when kind in ('memcpy D2H', 'memcpy H2D', 'memcpy D2D', 'memset', 'map', 'unmap',
                            'migrate') then start_ns + duration_ns end as copy_end_ns
  from activities
  where start_ns is not null and kind not in ('marker', 'barrier', 'scratch')
), swept as (
  -- latest end of the earlier activities: an activity adds only the time after it
  select device, start_ns, end_ns, kernel_end_ns, copy_end_ns,
         coalesce(max(end_ns) over (
           partition by device order by start_ns
           rows between unbounded preceding and 1 preceding), start_ns) as busy_until,
         coalesce(max(kernel_end_ns) over (
           partition by device order by start_ns
           rows between unbounded preceding and 1 preceding), start_ns) as kernels_until,
         coalesce(max(copy_end_ns) over (
           partition by device order by start_ns
           rows between unbounded preceding and 1 preceding), start_ns) as copies_until
  from active
), by_device as (
  select device,
         min(start_ns) as start_ns,
         max(end_ns) - min(start_ns) as span_ns,
         cast(sum(case when end_ns > busy_until
                       then end_ns - greatest(start_ns, busy_until) else 0 end) as bigint)
           as busy_ns,
         cast(sum(case when kernel_end_ns > kernels_until
                       then kernel_end_ns - greatest(start_ns, kernels_until) else 0 end)
              as bigint) as kernel_ns,
         cast(sum(case when copy_end_ns > copies_until
                       then copy_end_ns - greatest(start_ns, copies_until) else 0 end) as bigint)
           as copy_ns,
         cast(sum(case when coalesce(kernel_end_ns, copy_end_ns)
                            > greatest(kernels_until, copies_until)
                       then coalesce(kernel_end_ns, copy_end_ns)
                            - greatest(start_ns, kernels_until, copies_until)
                       else 0 end) as bigint) as either_ns
  from swept
  group by device
)
select device, start_ns, span_ns, busy_ns, kernel_ns, copy_ns,
       kernel_ns + copy_ns - either_ns as overlap_ns,
       cast(kernel_ns + copy_ns - either_ns as double) / nullif(copy_ns, 0) as overlap_share
from by_device
order by device
