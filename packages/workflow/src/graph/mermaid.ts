import type { StepStatus } from '../adapter/lifecycle.ts'
import type { DefinitionRecord, DefinitionShape, StepShape } from '../adapter/records.ts'
import { factsOfKind } from '../adapter/step-kinds.ts'
import { BelayError } from '../errors.ts'
import { didYouMean } from '../nearest.ts'
import {
  checkArgument,
  checkOptions,
  type Kind,
  type OptionTable,
  oneOf,
  Refusal,
  readAs,
  readOptions,
} from '../options/index.ts'
import { shown } from '../shown.ts'
import { listed } from './place.ts'

export interface MermaidOptions {
  /** The statuses of a run's steps, by name. They colour the steps; steps without a status stay plain. */
  readonly statuses?: Readonly<Record<string, StepStatus>> | undefined
  /** Which way the graph grows: top down (the default) or left to right. */
  readonly direction?: 'TD' | 'LR' | undefined
}

const STATUS_STYLES: Readonly<Record<StepStatus, string>> = {
  pending: 'fill:#f4f4f5,stroke:#a1a1aa,color:#52525b',
  ready: 'fill:#e0f2fe,stroke:#0284c7,color:#0c4a6e',
  running: 'fill:#bfdbfe,stroke:#1d4ed8,color:#1e3a8a',
  waiting: 'fill:#ede9fe,stroke:#7c3aed,color:#4c1d95',
  completed: 'fill:#dcfce7,stroke:#16a34a,color:#14532d',
  failed: 'fill:#fee2e2,stroke:#dc2626,color:#7f1d1d',
  skipped: 'fill:#fafafa,stroke:#d4d4d8,color:#71717a',
  cancelled: 'fill:#e4e4e7,stroke:#71717a,color:#3f3f46',
  compensating: 'fill:#fef3c7,stroke:#d97706,color:#78350f',
  compensated: 'fill:#ffedd5,stroke:#ea580c,color:#7c2d12',
  compensation_failed: 'fill:#fecaca,stroke:#991b1b,color:#7f1d1d',
}

/** What is drawn: a definition with the workflow of its end steps, or a record as a store keeps it, which does not tell end steps. */
interface Drawn {
  readonly record: DefinitionRecord
  readonly followUp?: Pick<Drawn, 'record'> | null
}

const DEFINITION: Kind<Drawn> = {
  words: 'a definition made by define() or defineGraph(), or { record } as a store keeps it',
  read: (given) => {
    const { record, followUp = null } = given as Drawn
    const isStep = (step: StepShape) => typeof step.name === 'string' && Array.isArray(step.dependsOn)
    return record.shape.steps.every(isStep) ? { record, followUp } : new Refusal(shown(given))
  },
}

const STATUSES_BY_STEP: Kind<Readonly<Record<string, unknown>>> = {
  words: 'an object with a status for each step',
  read: (given) => readOptions(given) ?? new Refusal(shown(given)),
}

const OPTIONS = {
  statuses: { sets: 'the colours of steps', takes: STATUSES_BY_STEP, default: {} },
  direction: { sets: 'which way the graph grows', takes: oneOf(['TD', 'LR']), default: 'TD' },
} satisfies OptionTable

/**
 * Draws the graph as a Mermaid flowchart. Steps with a compensation have a double frame and the mark ↩. Waiting steps are rounded, with a mark for
 * what they wait for: ⏲ a time, ✉ a signal, ☑ an approval, ⟳ a poll, ⧉ a child. A map is two steps, one that decides its items (⇉) and one that gathers
 * them (⇇); so is a loop, which begins with ↻. Choices are hexagons, and their cases label the edges to the steps that need
 * them. A dotted edge leads to a step that runs although the step before it was skipped. The mark ? stands for a step's own condition, ⊘ for
 * an effect that nothing can undo, ⚑ for a pivot. End steps stand in a box of their own; to colour them, draw `followUp` of the definition.
 *
 * @throws BelayError `invalid_option` for the status of an unknown step, or an invalid status.
 */
export function toMermaid(definition: Drawn, options: MermaidOptions = {}): string {
  const { record, followUp } = checkArgument('toMermaid()', 'the definition', definition, DEFINITION)
  const { name, version, shape } = record
  const checked = checkOptions('toMermaid()', options, OPTIONS)
  const statuses = checkedStatuses(name, shape.steps, checked.statuses)
  const used = [...new Set(statuses.values())]
  return [
    '---',
    `title: ${JSON.stringify(`${name} v${version}`)}`,
    '---',
    `flowchart ${checked.direction}`,
    ...shape.steps.map((step, number) => nodeLine(step, `s${number}`, statuses.get(step.name))),
    ...edgeLines(shape, 's'),
    ...(followUp ? endLines(followUp.record.shape) : []),
    ...used.map((status) => `  classDef ${status} ${STATUS_STYLES[status]}`),
    '',
  ].join('\n')
}

function checkedStatuses(
  workflow: string,
  steps: readonly StepShape[],
  given: Readonly<Record<string, unknown>>,
): Map<string, StepStatus> {
  const names = new Set(steps.map((step) => step.name))
  const statuses = new Map<string, StepStatus>()
  for (const [name, status_] of Object.entries(given)) {
    if (!names.has(name)) {
      throw refused(
        workflow,
        `${shown(name)} is not one of its steps.${didYouMean(name, names)} Its steps are ${listed([...names])}.`,
      )
    }
    const status = readAs(STATUS, status_)
    if (Refusal.is(status)) {
      throw refused(
        workflow,
        `the status of step "${name}" must be ${STATUS.words}; got ${status.got}.${status.hint}`,
      )
    }
    statuses.set(name, status)
  }
  return statuses
}

const STATUS = oneOf(Object.keys(STATUS_STYLES) as StepStatus[])

function refused(workflow: string, defect: string): BelayError {
  return new BelayError(
    'invalid_option',
    `toMermaid(): in the statuses for workflow "${workflow}", ${defect}`,
  )
}

/** The box of the end steps. They begin with the step that tells how the run ended. */
function endLines(shape: DefinitionShape): readonly string[] {
  return [
    '  subgraph ends["after the end"]',
    ...shape.steps.map((step, number) => `  ${nodeLine(step, `e${number}`, undefined)}`),
    ...edgeLines(shape, 'e').map((line) => `  ${line}`),
    '  end',
  ]
}

function edgeLines(shape: DefinitionShape, prefix: string): readonly string[] {
  return shape.steps.flatMap(({ dependsOn }, to) =>
    dependsOn.map((from) => edgeLine(shape, { from, to, prefix })),
  )
}

function nodeLine(step: StepShape, id: string, status: StepStatus | undefined): string {
  const compensable = step.compensate !== 'never'
  const label =
    (step.kind === undefined ? '' : `${factsOfKind(step.kind)?.mark ?? '?'} `) +
    escaped(step.name) +
    (compensable ? ' ↩' : '') +
    (step.irreversible ? ' ⊘' : '') +
    (step.pivot ? ' ⚑' : '') +
    (step.when === 'function' ? ' ?' : '') +
    (status === undefined ? '' : `<br/>${status}`)
  // Names are not ids in Mermaid: "end" as an id breaks its parser.
  const [open, close] = bracketsOf(step)
  const node = `${id}${open}"${label}"${close}`
  return `  ${node}${status === undefined ? '' : `:::${status}`}`
}

function bracketsOf({ kind, compensate }: StepShape): readonly [string, string] {
  if (kind === 'choose') return ['{{', '}}']
  if (kind !== undefined) return ['([', '])']
  return compensate === 'never' ? ['[', ']'] : ['[[', ']]']
}

function edgeLine(
  { steps }: DefinitionShape,
  { from, to, prefix }: { readonly from: number; readonly to: number; readonly prefix: string },
): string {
  const { when, onSkipped } = steps[to]!
  const wanted = Array.isArray(when) ? when.find(({ choice }) => choice === steps[from]!.name) : undefined
  const label = wanted === undefined ? '' : `|"${wanted.cases.map(escaped).join(' or ')}"|`
  return `  ${prefix}${from} ${onSkipped === 'run' ? '-.->' : '-->'}${label} ${prefix}${to}`
}

/** Records may come from a store, so names may hold anything: no character may end the label. */
function escaped(name: string): string {
  return name.replace(/[^\p{L}\p{N} _.:-]/gu, (character) => `#${character.codePointAt(0)};`)
}
