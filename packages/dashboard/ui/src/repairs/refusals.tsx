import { Link } from 'wouter'
import type { Repair } from '../../../src/api/many.ts'
import type { RunLink } from '../../../src/api.ts'
import { Glyph, Status } from '../glyph.tsx'
import { Problem } from '../outcome.tsx'
import { withTimes } from '../shell/times.ts'
import { figure, nameOf } from '../words.ts'
import { goOf } from './asked.ts'
import { useAsk } from './new.tsx'

/** Why runs are left as they are, and what helps them instead. */
export function Refusals({ repair }: { readonly repair: Repair }) {
  const { refusals, instead, asked, id, denied } = repair
  const { ask, problem, isBusy } = useAsk()
  if (refusals.length === 0) return null
  const { query: _, all: __, runs: ___, ...same } = asked
  return (
    <>
      <ul class="refusals">
        {refusals.map(({ why, count, runs, instead: others }) => (
          <li key={why}>
            <Glyph state="failed" />
            <div>
              <b>{figure(count)}</b> {withTimes(why)}
              <Links runs={runs} of={count} />
              {others.length > 0 && (
                <>
                  <p class="weak">Instead:</p>
                  <Links runs={others} of={others.length} />
                </>
              )}
            </div>
          </li>
        ))}
      </ul>
      <Problem of={problem} />
      {instead > 0 && (
        <button
          type="button"
          class="button"
          disabled={denied || isBusy}
          onClick={() => void ask({ ...same, insteadIn: id })}
        >
          {goOf(asked, instead)} instead…
        </button>
      )}
    </>
  )
}

/** The first runs of many, as they are now. */
export function Links({ runs, of }: { readonly runs: readonly RunLink[]; readonly of: number }) {
  if (runs.length === 0) return null
  return (
    <ul class="run-links">
      {runs.map((run) => (
        <li key={run.id}>
          <Link href={`/runs/${run.id}`} title={run.workflow}>
            {nameOf(run)}
          </Link>{' '}
          <Status status={run.status} />
        </li>
      ))}
      {of > runs.length && <li class="weak">and {figure(of - runs.length)} more</li>}
    </ul>
  )
}
