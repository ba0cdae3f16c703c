import { Link } from 'wouter'
import type { Health as HealthAnswer } from '../../../src/api.ts'
import { Answer } from '../answer.tsx'
import { Glyph } from '../glyph.tsx'
import { Head } from '../head.tsx'
import { useLive } from '../live.ts'
import { zone } from '../settings.ts'
import { useCell } from '../stored.ts'
import { useNow } from '../use-now.ts'
import { age, capped, counted, span } from '../words.ts'
import { slotsWords } from '../workers/words.ts'
import { Findings } from './findings.tsx'
import { Tiles } from './tiles.tsx'

/** Why runs do not go on, as sentences; then the figures, and who works. */
export function Health() {
  const health = useLive<HealthAnswer>('health')
  useCell(zone)
  return (
    <Answer of={health}>
      {(answer: HealthAnswer) => (
        <>
          <Checked health={answer} readAt={health.dataUpdatedAt} check={health.refetch} />
          <Findings findings={answer.findings} now={answer.readAt} />
          <Tiles health={answer} />
          <WorkersLine counts={answer.workers} />
        </>
      )}
    </Answer>
  )
}

function WorkersLine({ counts }: { readonly counts: HealthAnswer['workers'] }) {
  const { live, expired, dead } = counts
  const lost = [expired > 0 && `${expired} silent`, dead > 0 && `${dead} dead`].filter(Boolean)
  return (
    <p class="line workers-line">
      <Glyph state={live === 0 || lost.length > 0 ? 'failed' : 'completed'} />
      <span>
        {slotsWords(counts)}
        {lost.length > 0 && `; ${lost.join(', ')}`}.{' '}
        <Link class="run-link" href="/workers">
          Show the workers
        </Link>
      </span>
    </p>
  )
}

interface CheckedProps {
  readonly health: HealthAnswer
  /** By this browser's clock. */
  readonly readAt: number
  readonly check: () => unknown
}

function Checked({ health: { findings, tookMs, overview }, readAt, check }: CheckedProps) {
  const now = useNow()
  const live = Object.values(overview.liveRuns)
  const runs = {
    count: live.reduce((sum, { count }) => sum + count, 0),
    capped: live.some((one) => one.capped),
  }
  return (
    <Head
      title={findings.length === 0 ? 'Checked, and in order' : counted(findings.length, 'finding')}
      aside={
        <button type="button" class="button" onClick={() => check()}>
          Check now
        </button>
      }
    >
      Checked {age(now - readAt)} ago in {span(tookMs)}, over {capped(runs)} live{' '}
      {runs.count === 1 ? 'run' : 'runs'}.
    </Head>
  )
}
