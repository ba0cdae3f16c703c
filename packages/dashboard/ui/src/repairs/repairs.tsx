import type { GlyphState } from '@belay/graph-view'
import { Link, useSearch } from 'wouter'
import type { RepairState, RepairsPage } from '../../../src/api/many.ts'
import { State } from '../glyph.tsx'
import { Head } from '../head.tsx'
import { useLive } from '../live.ts'
import { termsOf, textOf } from '../runs/filter.ts'
import { fullInstant, instant } from '../words.ts'
import { titleOf } from './asked.ts'
import { NewRepair } from './new.tsx'
import { OneRepair } from './one.tsx'

/** Acts on many runs. `id`: of a repair that was asked for; `new`, or none, asks for one. */
export function Repairs({ id }: { readonly id: string | undefined }) {
  const search = useSearch()
  const isNew = id === undefined || id === 'new'
  return (
    <>
      <Head
        title="Repair many"
        aside={
          !isNew && (
            <Link class="button" href="/repairs">
              New repair
            </Link>
          )
        }
      >
        Nothing is changed before step 5. Each step shows what the engine itself would decide for each run.
      </Head>
      {isNew ? <NewRepair key={search} search={search} /> : <OneRepair id={id} />}
      <Earlier but={id} />
    </>
  )
}

const LOOKS: Readonly<Record<RepairState, readonly [GlyphState, string]>> = {
  counting: ['running', 'Counting'],
  counted: ['waiting', 'Counted'],
  working: ['running', 'Under way'],
  done: ['completed', 'Done'],
  stopped: ['cancelled', 'Stopped'],
  failed: ['failed', 'Ended early'],
}

/** The others of the server's process, for whoever comes later. */
function Earlier({ but }: { readonly but: string | undefined }) {
  const { data } = useLive<RepairsPage>('repairs')
  const others = data?.repairs.filter(({ id }) => id !== but) ?? []
  if (others.length === 0) return null
  return (
    <section class="earlier">
      <h2>Other repairs</h2>
      <ul>
        {others.map(({ id, asked, state, by, at, begun, sentence }) => {
          const [glyph, word] = LOOKS[state]
          return (
            <li key={id}>
              <State state={glyph}>{word}</State>
              <Link href={`/repairs/${id}`}>
                {titleOf(asked)} {textOf(termsOf(asked.query ?? ''))}
              </Link>
              <span class="what">{sentence}</span>
              <span class="weak">
                {begun?.by ?? by},{' '}
                <time title={fullInstant(begun?.at ?? at)}>{instant(begun?.at ?? at, Date.now())}</time>
              </span>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
