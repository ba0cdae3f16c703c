import { glyphOf } from '@belay/graph-view'
import type { RunCounts } from '../../../src/api.ts'
import { Glyph } from '../glyph.tsx'
import { useLive } from '../live.ts'
import { RUN_STATUSES, wordOf } from '../status.ts'
import { capped } from '../words.ts'
import { searchOf, type Term } from './filter.ts'
import { flipped, statusesAskedFor, useStatusWords } from './status-terms.ts'

interface CountsProps {
  readonly terms: readonly Term[]
  readonly filterBy: (terms: readonly Term[]) => void
}

/** How many runs of the filter have each status. Each is a switch of the filter. */
export function Counts({ terms, filterBy }: CountsProps) {
  const query = searchOf(terms.filter(({ field }) => field !== 'status'))
  const { data } = useLive<RunCounts>(`runs/counts${query && `?${query}`}`)
  const words = useStatusWords()
  const chosen = statusesAskedFor(terms, words)
  const shown = RUN_STATUSES.filter((status) => chosen.has(status) || (data?.[status]?.count ?? 0) > 0)
  return (
    <fieldset class="counts">
      <legend class="sr">Runs by status</legend>
      {shown.map((status) => (
        <button
          key={status}
          type="button"
          aria-pressed={chosen.has(status)}
          onClick={() => filterBy(flipped(terms, status, words))}
        >
          <Glyph state={glyphOf(status)} />
          <b>{capped(data?.[status] ?? { count: 0, capped: false })}</b> {wordOf(status).toLowerCase()}
        </button>
      ))}
    </fieldset>
  )
}
