-- SPDX-License-Identifier: MIT
-- Memory that programs allocated and freed, by kind and device: table memory of `gputap report`.
--   domain, memory, device   API; host, device, shared, ..; number of the device, or NULL
--   allocations, bytes       number of allocations and their bytes; bytes NULL: sizes are unknown
--   frees, freed_bytes       number of frees of recorded allocations, and their bytes
--   peak_bytes               largest size that all processes together had allocated at once
--   left_bytes               size that was not freed
with changes as (
  -- in_use counts each session by itself: grown_bytes is what the change adds
  select session, domain, memory, device, kind, time_ns, bytes, in_use,
         in_use - coalesce(lag(in_use) over (
           partition by session, domain, memory, device
           -- of several at one time, frees come after allocations
           order by time_ns, kind, case when kind = 'free' then -in_use else in_use end), 0)
           as grown_bytes
  from memory
), sizes as (
  select domain, memory, device, kind, bytes, grown_bytes,
         sum(grown_bytes) over (
           partition by domain, memory, device
           order by time_ns, kind, session,
                    case when kind = 'free' then -in_use else in_use end
           rows between unbounded preceding and current row) as all_in_use
  from changes
), sums as (
  select domain, memory, device,
         count(case when kind = 'allocation' then 1 end) as allocations,
         cast(sum(case when kind = 'allocation' then bytes else 0 end) as bigint) as bytes,
         count(case when kind = 'free' then 1 end) as frees,
         cast(coalesce(sum(case when kind = 'free' then bytes end), 0) as bigint) as freed_bytes,
         cast(max(all_in_use) as bigint) as peak_bytes,
         cast(sum(grown_bytes) as bigint) as left_bytes
  from sizes
  group by domain, memory, device
)
select domain, memory, device, allocations,
       nullif(bytes, 0) as bytes,
       frees,
       case when bytes > 0 then freed_bytes end as freed_bytes,
       case when bytes > 0 then peak_bytes end as peak_bytes,
       case when bytes > 0 then left_bytes end as left_bytes
from sums
order by bytes desc
