import {
  type DifferingItems,
  ITEM_GROUP,
  type ItemsPrint,
  type ItemsThatDiffer,
} from '@belay/workflow/adapter'
import { FIRST_ITEM } from '../rows/item-rows.ts'
import { stepsPrint } from '../rows/steps-print.ts'

/** The rows to read: all but items, and those of items in a range. */
export const ITEMS_IN_RANGE = `(select s.ctid from "belay"."workflow_steps" s where s.run_id = $1::uuid and s.step < ${FIRST_ITEM})
  union all
  (select i.ctid from "belay"."workflow_steps" i where i.run_id = $1::uuid and i.step >= ${FIRST_ITEM} and i.step > $2::int and i.step < $3::int
   order by i.step limit $4::int)`

/** The rows to read: all but items, and some items of each map in each status. */
export const ITEMS_OF_EACH_STATUS = `(select s.ctid from "belay"."workflow_steps" s where s.run_id = $1::uuid and s.step < ${FIRST_ITEM})
  union all
  (select found.row_at
   from (
     select i.status, min(i.step) as first, max(i.step) as last
     from "belay"."workflow_steps" i
     where i.run_id = $1::uuid and i.step >= ${FIRST_ITEM}
     group by i.step >> 16, i.status
   ) g
   cross join lateral (
     (select i.ctid as row_at from "belay"."workflow_steps" i
      where i.run_id = $1::uuid and i.step >= g.first and i.step <= g.last and i.status = g.status and g.status <> 'compensating'
      order by i.step limit $2::int)
     union all
     (select i.ctid from "belay"."workflow_steps" i
      where i.run_id = $1::uuid and i.step >= g.first and i.step <= g.last and i.status = g.status and g.status = 'compensating'
      order by i.step desc limit $2::int)
   ) found)`

/** JSON of the counts of all items `i` of one run. */
export const itemCounts = (
  ofRun: string,
) => `select json_agg(json_build_object('map', c.map, 'status', c.status, 'count', c.items, 'finishedAt', c.ended)
    order by c.map, c.status collate "C")::text
  from (
    select (i.step >> 16) - 1 as map, i.status, count(*)::int as items, (extract(epoch from max(i.finished_at)) * 1000)::float8 as ended
    from "belay"."workflow_steps" i
    where ${ofRun} and i.step >= ${FIRST_ITEM}
    group by i.step >> 16, i.status
  ) c`

// A group has no row if it is known and all its items are gone. One more than is read tells whether there are more.
export const DIFFERING = `
with known as materialized (
  select k.first, k.print from unnest($2::int[], $3::text[]) as k (first, print)
),
present as materialized (
  select i.step - i.step % ${ITEM_GROUP} as first, ${stepsPrint('i')} as print
  from "belay"."workflow_steps" i
  where i.run_id = $1::uuid and i.step >= ${FIRST_ITEM} and i.step >= $4::int
  group by 1
),
differing as materialized (
  select d.first, d.print
  from (
    select p.first, p.print from present p
    where (p.first, p.print) not in (select k.first, k.print from known k)
    union all
    select k.first, '' from known k
    where k.first not in (select p.first from present p)
  ) d
  where d.first > $4::int
  order by d.first
  limit $5::int + 1
),
read_items as materialized (
  select i.ctid as row_at
  from (select d.first from differing d order by d.first limit $5::int) d
  join "belay"."workflow_steps" i on i.run_id = any (array[$1::uuid]) and i.step >= d.first and i.step < d.first + ${ITEM_GROUP}
)
`

/** The rows to read: all but items, and those of items in groups that differ. */
export const ITEMS_THAT_DIFFER = `(select s.ctid from "belay"."workflow_steps" s where s.run_id = $1::uuid and s.step < ${FIRST_ITEM})
  union all
  (select i.row_at from read_items i)`

/** The statement looks for one group more than it reads. */
export function differingOf(
  differing: string | null | undefined,
  { groupsMax }: ItemsThatDiffer,
): DifferingItems {
  const prints = JSON.parse(differing ?? '[]') as readonly ItemsPrint[]
  return { prints: prints.slice(0, groupsMax), more: prints.length > groupsMax }
}
