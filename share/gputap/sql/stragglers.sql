-- SPDX-License-Identifier: MIT
-- Which rank made the others wait, in collective calls and for messages: table ranks of `gputap
-- report`. The rank with the largest caused_ns is the straggler.
--   rank, host          rank of the job, and its host
--   caused_ns           time that other ranks waited for this rank; NULL: no wait was found
--   wait_ns             time that this rank waited for others; NULL: no wait was found
--   device_wait_ns      .. in kernels of collectives, included in wait_ns
--   message_wait_ns     .. for messages, included in wait_ns
--   caused_waits        number of waits of other ranks for this rank
--   waits               number of waits of this rank
with ranks as (
  select distinct p.rank as rank, s.host as host
  from processes p
  join sessions s on s.session = p.session
  where p.rank is not null
), ranks_of_processes as (
  select p.process as process, p.rank as rank, s.host as host
  from processes p
  join sessions s on s.session = p.session
), sides as (
  -- each wait counts for the rank that waited and for the rank that was waited for
  select process, duration_ns as wait_ns, 0 as caused_ns, 1 as is_wait,
         case when on_device then duration_ns else 0 end as device_ns,
         case when kind = 'message' then duration_ns else 0 end as message_ns
  from waits
  union all
  select for_process, 0, duration_ns, 0, 0, 0
  from waits
), sums as (
  select r.rank as rank, r.host as host,
         cast(sum(caused_ns) as bigint) as caused_ns,
         cast(sum(wait_ns) as bigint) as wait_ns,
         cast(sum(device_ns) as bigint) as device_wait_ns,
         cast(sum(message_ns) as bigint) as message_wait_ns,
         count(case when is_wait = 0 then 1 end) as caused_waits,
         count(case when is_wait = 1 then 1 end) as waits
  from sides
  join ranks_of_processes r on r.process = sides.process
  group by r.rank, r.host
)
select r.rank as rank, r.host as host, caused_ns, wait_ns, device_wait_ns, message_wait_ns,
       coalesce(caused_waits, 0) as caused_waits, coalesce(waits, 0) as waits
from ranks r
left join sums s on s.rank = r.rank and coalesce(s.host, '') = coalesce(r.host, '')
order by coalesce(caused_ns, 0) desc, r.rank
