import { Link } from 'wouter'
import type { StoredVersion } from '../../../src/api/versions.ts'
import { LIVE } from '../status.ts'
import { capped } from '../words.ts'

/** The way to the runs of a version that have not ended. */
export function LiveRuns({
  workflow,
  version: { version, liveRuns },
}: {
  readonly workflow: string
  readonly version: StoredVersion
}) {
  const words = `${capped(liveRuns)} live ${liveRuns.count === 1 && !liveRuns.capped ? 'run' : 'runs'}`
  if (liveRuns.count === 0 && !liveRuns.capped) return <span class="weak">no live run</span>
  const query = [
    ['workflow', workflow],
    ['version', String(version)],
    ...LIVE.map((status) => ['status', status]),
  ]
  return (
    <Link class="run-link" href={`/runs?${new URLSearchParams(query)}`}>
      {words}
    </Link>
  )
}

/** Runs without one wait. */
export function Workers({ version: { workers, liveRuns } }: { readonly version: StoredVersion }) {
  const { count, names } = workers
  if (count === 0)
    return <span class={liveRuns.count > 0 ? 'loud s-failed' : 'weak'}>no live worker has it</span>
  const more = count - names.length
  return (
    <>
      {names.join(', ')}
      {more > 0 && ` and ${more} more`}
    </>
  )
}
