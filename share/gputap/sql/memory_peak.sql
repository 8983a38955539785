-- SPDX-License-Identifier: MIT
-- Memory that programs allocated and freed, by kind and device: table memory of `gputap report`.
--   domain, memory, device   API; host, device, shared, ..; number of the device, or NULL
--   allocations, bytes       number of allocations and their bytes; bytes NULL: sizes are unknown
--   frees, freed_bytes       number of frees of recorded allocations, and their bytes
--   peak_bytes               largest size that all processes together had allocated at once
--   left_bytes               size that was not freed
with changes as (
  select domain, memory, device, kind, bytes, in_use,
         row_number() over (
           partition by domain, memory, device
           -- the change that came last; of several at one time, frees come after allocations
           order by time_ns desc, kind desc,
                    case when kind = 'free' then in_use else -in_use end) as from_end
  from memory
), sums as (
  select domain, memory, device,
         count(case when kind = 'allocation' then 1 end) as allocations,
         cast(sum(case when kind = 'allocation' then bytes else 0 end) as bigint) as bytes,
         count(case when kind = 'free' then 1 end) as frees,
         cast(sum(case when kind = 'free' then bytes else 0 end) as bigint) as freed_bytes,
         max(in_use) as peak_bytes,
         max(case when from_end = 1 then in_use end) as left_bytes
  from changes
  group by domain, memory, device
)
select domain, memory, device, allocations,
       nullif(bytes, 0) as bytes,
       frees,
       case when bytes > 0 then coalesce(freed_bytes, 0) end as freed_bytes,
       case when bytes > 0 then peak_bytes end as peak_bytes,
       case when bytes > 0 then left_bytes end as left_bytes
from sums
order by bytes desc
