-- SPDX-License-Identifier: MIT
-- Which rank waited for which rank, in collective calls and for messages: table rank_waits of
-- `gputap report`.
--   rank, host           rank that waited, and its host
--   for_rank, for_host   rank that it waited for, and its host
--   wait_ns              time that it waited
--   device_wait_ns       .. in kernels of collectives, included in wait_ns
--   message_wait_ns      .. for messages, included in wait_ns
--   calls                number of waits
with ranks_of_processes as (
  select p.process as process, s.host as host
  from processes p
  join sessions s on s.session = p.session
)
select w.rank as rank, a.host as host, w.for_rank as for_rank, b.host as for_host,
       cast(sum(w.duration_ns) as bigint) as wait_ns,
       cast(sum(case when w.on_device then w.duration_ns else 0 end) as bigint) as device_wait_ns,
       cast(sum(case when w.kind = 'message' then w.duration_ns else 0 end) as bigint)
         as message_wait_ns,
       count(*) as calls
from waits w
join ranks_of_processes a on a.process = w.process
join ranks_of_processes b on b.process = w.for_process
group by w.rank, a.host, w.for_rank, b.host
order by wait_ns desc
