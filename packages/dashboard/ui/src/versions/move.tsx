import type { VersionGraph, VersionsDiff } from '../../../src/api/versions.ts'
import { MayButton } from '../may-button.tsx'
import { Problem } from '../outcome.tsx'
import { useAsk } from '../repairs/new.tsx'
import { Copy } from '../shell/copy.tsx'
import { capped } from '../words.ts'

const NAMES_MAX = 10

/** What hinders a move, and its dry run, which tells for each run. */
export function Move({
  diff: { name, from, to, command = '' },
  removed,
}: {
  readonly diff: VersionsDiff & { readonly from: VersionGraph }
  readonly removed: readonly string[]
}) {
  const { ask, problem, isBusy } = useAsk()
  const { count } = from.liveRuns
  const hinders = hindrancesOf({ from, to, removed })
  const move = () => {
    if (isBusy) return
    const query = new URLSearchParams({ workflow: name, version: String(from.version) }).toString()
    void ask({ verb: 'move', query, version: to.version })
  }
  if (from.version === to.version) return null
  return (
    <section class="move">
      {hinders.length > 0 && (
        <>
          <h2>What hinders a move to v{to.version}</h2>
          <ul>
            {hinders.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </>
      )}
      {to.isGiven && count > 0 && (
        <p class="row">
          <MayButton capability="runs.move" class="button main" onClick={move}>
            Move {capped(from.liveRuns)} {count === 1 ? 'run' : 'runs'} to v{to.version}…
          </MayButton>
          <span class="weak">First a dry run, which says for each run whether it can be moved.</span>
        </p>
      )}
      {!to.isGiven && count > 0 && (
        <p class="command">
          <code>{command}</code>
          <Copy text={command} of={command} />
        </p>
      )}
      <Problem of={problem} />
    </section>
  )
}

function hindrancesOf({
  from,
  to,
  removed,
}: {
  readonly from: VersionGraph
  readonly to: VersionGraph
  readonly removed: readonly string[]
}): readonly string[] {
  if (from.liveRuns.count === 0) return [`v${from.version} has no live run to move.`]
  const names = removed.slice(0, NAMES_MAX).join(', ')
  const more = removed.length - NAMES_MAX
  return [
    ...(to.isGiven
      ? []
      : [
          `This dashboard has no definition of v${to.version}, and a run is moved with its definition: whoever runs the dashboard gives it in the option workflows. Until then, the command below does it where a belay.config has it.`,
        ]),
    ...(to.workers.count > 0
      ? []
      : [`No live worker has v${to.version}: runs that are moved wait until one starts.`]),
    ...(removed.length === 0
      ? []
      : [
          `v${to.version} has no ${names}${more > 0 ? ` and ${more} more` : ''}: a run in which such a step has begun is refused.`,
        ]),
  ]
}
