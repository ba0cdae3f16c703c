import { participleOf } from '@belay/graph-view'
import type { RunsToChange, WorkflowDefinition } from '@belay/workflow'
import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import { act, aimed } from '../runs/act.ts'
import { typedCommand } from '../runs/typed.ts'
import { definitionOf, definitionsOf } from '../store/definitions.ts'
import type { Store } from '../store/store.ts'
import { safe } from '../terminal/text.ts'

/** `belay move`. */
export async function run(call: Call): Promise<ExitStatus> {
  const version = call.flags.to
  if (version === undefined) {
    throw misused('--to is missing: the version it moves to.', typedCommand(call, '--to', '<version>'))
  }
  return act(call, aimed(call).aim, {
    needsReason: true,
    them: `move them to v${version}`,
    done: participleOf({ verb: 'move', version }),
    selects: ['scheduled', 'running', 'waiting', 'paused'],
    one: async (run, { store, found, by }) => {
      const definition = definitionTo(store, { workflow: found.workflow, version })
      const isMoved = await store.engine.migrateRun(run.id, definition, by)
      return isMoved ? { from: `v${found.version}`, to: `v${version}` } : null
    },
    many: async (store, runs, options) => {
      const workflow = await workflowOf(store, runs, version)
      return store.engine.runs.migrateMany(runs, definitionTo(store, { workflow, version }), options)
    },
  })
}

function definitionTo(
  store: Store,
  wanted: { readonly workflow: string; readonly version: number },
): WorkflowDefinition {
  const definition = definitionOf(store, wanted)
  if (definition !== undefined) return definition
  const { workflow, version } = wanted
  throw misused(
    `No config has ${safe(workflow)} v${version}, and a run is moved with its definition. Add it to \`workflows\` of ${store.config ?? 'a belay.config.ts'}.`,
  )
}

/** The one workflow of the runs: that of the filter, of the first run of a list, or the only one that the config has in this version. */
async function workflowOf(store: Store, runs: RunsToChange, version: number): Promise<string> {
  if (Array.isArray(runs)) {
    const [first] = await store.engine.runs.list({ idPrefix: String(runs[0]), limit: 1 })
    if (first !== undefined) return first.workflow
  } else if ('workflow' in runs && runs.workflow !== undefined) {
    const names = [runs.workflow].flat()
    if (names.length > 1) throw misused('Runs of one workflow are moved at a time: give one --workflow.')
    return names[0]!
  }
  const known = definitionsOf(store).filter((definition) => definition.version === version)
  if (known.length === 1) return known[0]!.name
  throw misused('--workflow is missing: whose runs are moved?')
}
