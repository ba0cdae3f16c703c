import type { Claimed, ClaimRequest, Identity, OwnedRun } from '@belay/workflow/store'
import { type LiveRow, placeAt, type Rows } from './rows.ts'

/** How many runs with mail one look passes. */
const LOOKED_AT_MAX = 1_000

export function claim(rows: Rows, identity: Identity, request: ClaimRequest): Claimed {
  const now = rows.now()
  const wanted = new Set(request.definitions)
  const free = [...rows.live.values()].filter(
    ({ owner, definition }) => owner === null && wanted.has(definition),
  )
  const next = Math.min(...free.filter(({ due }) => due > now).map(({ due }) => due))
  const nextMs = Number.isFinite(next) ? next - now : null
  if (!rows.isAlive(identity)) return { runs: [], mailAfter: null, nextMs }
  const placeOf = ({ place, due, lead }: LiveRow) => place ?? placeAt(now, due, lead)
  const due = free
    .flatMap((live) => {
      const place = placeOf(live)
      return place === null ? [] : [{ live, place }]
    })
    .sort((one, other) => one.place - other.place || (one.live.run < other.live.run ? -1 : 1))
    .map(({ live }) => live)
  const looked = lookedAt(rows, request.mailed)
  const mailed = looked.flatMap((run) => {
    const live = rows.live.get(run)
    return live !== undefined && live.owner === null && wanted.has(live.definition) ? [live] : []
  })
  const taken = new Set([...due.slice(0, request.max), ...mailed.slice(0, request.max)])
  const runs = [...taken].map((live) => rows.owned(rows.own(live, identity.worker).run, live.fence > 0))
  const isCut = typeof request.mailed === 'object' && looked.length === LOOKED_AT_MAX
  return { runs, nextMs, mailAfter: isCut ? looked.at(-1)! : null }
}

function lookedAt(rows: Rows, mailed: ClaimRequest['mailed']): readonly string[] {
  if (mailed === 'none') return []
  const open = [...rows.open.values()]
  if (mailed === 'hinted') return [...new Set(open.filter(({ seen }) => seen === null).map(({ run }) => run))]
  const { after } = mailed
  const runs = [...new Set(open.map(({ run }) => run))].filter((run) => after === null || run > after)
  return runs.sort().slice(0, LOOKED_AT_MAX)
}

export function take(rows: Rows, identity: Identity, runs: readonly string[]): readonly OwnedRun[] {
  if (!rows.isAlive(identity)) return []
  return [...new Set(runs)].flatMap((id) => {
    const live = rows.live.get(id)
    if (live?.owner === null) rows.own(live, identity.worker)
    else if (live === undefined && rows.runs.get(id)?.finishedAt != null) rows.reopen(id, identity.worker)
    else return []
    return [rows.owned(id, true)]
  })
}
