-- SPDX-License-Identifier: MIT
-- Collective calls (MPI, NCCL, RCCL) by rank: collectives and collective_ns of table ranks of
-- `gputap report`. A rank that calls early waits in the call for the others; wait_ns is that part.
--   rank, host          rank of the process, or NULL; its host
--   domain, operation   library and name of the function
--   calls               number of calls
--   total_ns            time in these calls
--   min_ns, max_ns
--   wait_ns             time in which the rank waited for a rank that came later
with process_waits as (
  select process, operation, sum(duration_ns) as wait_ns
  from waits
  where kind = 'collective'
  group by process, operation
), by_process as (
  select process, domain, operation,
         count(*) as calls,
         sum(duration_ns) as total_ns,
         min(duration_ns) as min_ns,
         max(duration_ns) as max_ns
  from calls
  where collective
  group by process, domain, operation
)
select p.rank as rank, s.host as host, c.domain as domain, c.operation as operation,
       cast(sum(c.calls) as bigint) as calls,
       cast(sum(c.total_ns) as bigint) as total_ns,
       min(c.min_ns) as min_ns,
       max(c.max_ns) as max_ns,
       cast(coalesce(sum(w.wait_ns), 0) as bigint) as wait_ns
from by_process c
join processes p on p.process = c.process
join sessions s on s.session = p.session
left join process_waits w on w.process = c.process and w.operation = c.operation
group by p.rank, s.host, c.domain, c.operation
order by total_ns desc
