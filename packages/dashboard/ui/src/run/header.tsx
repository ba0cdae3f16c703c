import type { RunPage } from '../../../src/api.ts'
import { Status } from '../glyph.tsx'
import { withTimes } from '../shell/times.ts'
import { fullInstant, instant, nameOf, span } from '../words.ts'

/** Which run, how it stands, and why. */
export function RunHeader({
  page: { run, why, tags },
  level: Title,
}: {
  readonly page: RunPage
  readonly level: 'h1' | 'h2'
}) {
  return (
    <header class="run-header">
      <div class="row">
        <Title>{nameOf(run)}</Title>
        <Status status={run.status} />
      </div>
      <p class="why">{withTimes(why, run.readAt)}</p>
      <p class="weak">
        {run.workflow} v{run.version}, started{' '}
        <time title={fullInstant(run.createdAt)}>{instant(run.createdAt, run.readAt)}</time>,{' '}
        {run.finishedAt === undefined ? 'for' : 'took'} {span((run.finishedAt ?? run.readAt) - run.createdAt)}
        {tags.length > 0 && `, ${tags.join(', ')}`}
        <br />
        <code>{run.id}</code>
      </p>
    </header>
  )
}
