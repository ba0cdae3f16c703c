import { span } from '@belay/graph-view'
import { toMermaid, type WorkflowDefinition, type WorkflowSnapshot, type WorkflowStep } from '@belay/workflow'
import type { Call } from '../call.ts'
import { misused, refused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import { laneLines } from '../lanes/lines.ts'
import type { Store } from '../store/store.ts'
import { safe } from '../terminal/text.ts'

/** `belay graph`. */
export async function run({ args, connect, flags, out }: Call): Promise<ExitStatus | undefined> {
  if (flags.mermaid && flags.dot) throw misused('Give --mermaid or --dot, not both.')
  const store = await connect()
  const graph = await store.engine.workflows.get(args['workflow']!, flags.version)
  if (flags.mermaid) return print(await mermaid(store, graph))
  if (flags.dot) return print(dot(graph))
  if (out.json) {
    out.document(graph)
    return
  }
  const definition = store.workflows.find(
    ({ name, version }) => name === graph.name && version === graph.version,
  )
  const lines = graph.steps.map((step) => ({
    ...step,
    mark: 'ready' as const,
    word: KINDS[step.kind] ?? step.kind,
    detail: safe([...marksOf(step), ...policiesOf(definition, step)].join(', ')),
  }))
  if (out.isTerminal && !out.plain) {
    out.line(`${safe(graph.name)}  v${graph.version}\n`)
    for (const line of laneLines(out, lines)) out.line(line)
  } else if (out.plain) {
    for (const { name, dependsOn, word, detail } of lines) {
      const after = dependsOn.length === 0 ? '' : `, after ${dependsOn.map(safe).join(' and ')}`
      out.line(`${safe(name)}: ${word}${after}${detail === '' ? '' : `, ${detail}`}.`)
    }
  } else {
    for (const { name, dependsOn, word, detail } of lines) {
      out.line([safe(name), word, dependsOn.map(safe).join(','), detail].join('\t'))
    }
  }
  return

  function print(text: string): undefined {
    out.raw(text)
  }
}

/** By their names in the API, those that people call otherwise. */
const KINDS: Readonly<Record<string, string>> = { work: 'step', choose: 'choice' }

/** What the store knows of a step. */
function marksOf({
  compensate,
  when,
  cases,
  pivot,
  irreversible,
  onFailure,
}: WorkflowStep): readonly string[] {
  return [
    ...(compensate === 'never' ? [] : ['undo']),
    ...(cases.length > 0 ? [cases.join(', ')] : []),
    ...(when === 'function' ? ['when()'] : (when ?? []).map((one) => `if ${one.cases.join(' or ')}`)),
    ...(pivot ? ['pivot'] : []),
    ...(irreversible ? ['cannot be undone'] : []),
    ...(onFailure === 'continue' ? ['may fail'] : []),
  ]
}

/** What only the code knows, if the config has it: attempts, items at once, how long it waits. */
function policiesOf(
  definition: WorkflowDefinition | undefined,
  { name, kind }: WorkflowStep,
): readonly string[] {
  const step = definition?.steps.find((one) => one.name === (PARTED.has(kind) ? `${name}[]` : name))
  if (step === undefined) return []
  const { map, wait } = step
  if (wait !== null) return 'timeoutMs' in wait && wait.timeoutMs !== null ? [span(wait.timeoutMs)] : []
  const { attempts } = (map !== null && 'item' in map ? map.item : step).retry
  const atOnce = map?.part === 'map' ? map.atOnce : null
  return [
    ...(attempts === 1 ? [] : [`${attempts} attempts`]),
    ...(atOnce === null ? [] : [`${atOnce} at once`]),
  ]
}

const PARTED: ReadonlySet<string> = new Set(['map', 'repeat'])

async function mermaid({ adapter }: Store, { name, version }: WorkflowSnapshot): Promise<string> {
  const record = await adapter.findDefinition({ name, version })
  if (record === null) throw refused(`Version ${version} of "${safe(name)}" is not in the store any more.`)
  return toMermaid({ record })
}

function dot({ name, version, steps }: WorkflowSnapshot): string {
  return [
    `digraph ${JSON.stringify(`${name} v${version}`)} {`,
    ...steps.map((step) => `  ${JSON.stringify(step.name)}`),
    ...steps.flatMap((step) =>
      step.dependsOn.map((on) => `  ${JSON.stringify(on)} -> ${JSON.stringify(step.name)}`),
    ),
    '}',
    '',
  ].join('\n')
}
