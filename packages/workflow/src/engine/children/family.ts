import type { Adapter } from '../../adapter/index.ts'
import type { Logger } from '../../logger.ts'
import type { CallSettings } from '../base/call-settings.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import type { EventHub } from '../base/events.ts'
import { OutageWatch } from '../base/outage.ts'
import type { Control } from '../control/control.ts'
import type { RunStarter } from '../start/run-starter.ts'
import { ChildEnds } from './child-ends.ts'
import { Children } from './children.ts'

export interface FamilyParts {
  readonly settings: CallSettings & { readonly adapter: Adapter; readonly log: Logger }
  readonly registry: DefinitionRegistry
  readonly events: EventHub
  readonly starter: RunStarter
  readonly control: Control
  /** Steps of this definition are ready. */
  readonly onReady: (definitionId: number) => void
}

/** What a worker needs for the children of its runs. */
export function familyOf({ settings, registry, events, starter, control, onReady }: FamilyParts): {
  readonly children: Children
  readonly ends: ChildEnds
} {
  const { adapter, log, runtime } = settings
  const children = new Children({
    adapter,
    registry,
    settings,
    starter,
    control,
    outage: new OutageWatch({ during: 'looking after children', log, events, random: runtime.random }),
    onStarted: ({ run, definition }) => {
      const { runId, workflow, key } = run
      const { version } = definition
      events.emit('run.started', { runId, workflow, version, key: key ?? undefined, tags: [] })
      onReady(definition.id)
    },
  })
  const ends = new ChildEnds({ adapter, registry, runtime, log, control, onWoken: onReady })
  return { children, ends }
}
