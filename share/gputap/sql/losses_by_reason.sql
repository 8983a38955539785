-- SPDX-License-Identifier: MIT
-- Lost records, by API and reason: table loss of `gputap report`. No row: nothing was lost that
-- could be counted; other gaps are in table events, and `gputap report` names them.
--   domain, kind   API; call or activity
--   reason         ring full, output full, unfinished, ..
--   lost           number of lost records
--   seen           number of records of this API and kind that gputap saw
with lost as (
  select domain, kind, reason, cast(sum(records) as bigint) as lost
  from losses
  group by domain, kind, reason
), seen as (
  select domain, kind, cast(sum(seen) as bigint) as seen
  from counts
  group by domain, kind
)
select l.domain as domain, l.kind as kind, l.reason as reason, l.lost as lost, s.seen as seen
from lost l
left join seen s on s.domain = l.domain and s.kind = l.kind
order by lost desc
