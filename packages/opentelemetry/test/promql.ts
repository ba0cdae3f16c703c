import { RUN_STATUSES } from '@belay/workflow/adapter'
import type { SyntaxNode } from '@lezer/common'
import { parser } from '@prometheus-io/lezer-promql'
import { INSTRUMENTS, type Instrument, type Label } from '../src/metrics/instruments.ts'

/** Labels that Prometheus gives to every series that it scrapes. */
const OF_TARGETS = ['job', 'instance']

const VALUES: Partial<Record<Label, readonly string[]>> = {
  status: RUN_STATUSES,
  direction: ['forward', 'undo'],
  outcome: ['completed', 'retrying', 'failed', 'waiting', 'skipped', 'released', 'discarded', 'lost'],
}

/** The series that Prometheus has, by name, with their labels. */
export const SERIES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<Instrument>(INSTRUMENTS).flatMap(([name, { kind, unit, labels }]) => {
    const base = `${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}`
    const own = [...labels, ...OF_TARGETS]
    if (kind === 'gauge') return [[base, own]]
    if (kind === 'counter') return [[`${base}_total`, own]]
    return [
      [`${base}_bucket`, [...own, 'le']],
      [`${base}_sum`, own],
      [`${base}_count`, own],
    ]
  }),
)

/** What is wrong with an expression: its syntax, a series that nobody exports, or a label or a value that a series does not have. */
export function problemsOf(expression: string): readonly string[] {
  const root = parser.parse(expression).topNode
  const text = (node: SyntaxNode) => expression.slice(node.from, node.to)
  const errors = all(root, '⚠').map(({ from }) => `syntax at ${from}`)
  const selectors = all(root, 'VectorSelector').flatMap((selector) => {
    const name = text(selector.getChild('Identifier')!)
    const labels = SERIES.get(name)
    if (labels === undefined) return [`no series ${name}`]
    const used = [
      ...all(selector, 'LabelName').map(text),
      ...groupsAround(selector).flatMap((group) => all(group, 'LabelName').map(text)),
    ]
    const values = all(selector, 'UnquotedLabelMatcher').flatMap((matcher) =>
      unknownValues(text(matcher.getChild('LabelName')!), text(matcher.getChild('StringLiteral')!)),
    )
    return [
      ...used.filter((label) => !labels.includes(label)).map((label) => `${name} has no ${label}`),
      ...values,
    ]
  })
  return [...errors, ...selectors]
}

/** The labels of what an expression results in. */
export function labelsOf(expression: string): readonly string[] {
  const root = parser.parse(expression).topNode
  if (all(root, 'AggregateExpr').length > 0) {
    const names = all(root, 'GroupingLabels').flatMap((group) => all(group, 'LabelName'))
    return names.map(({ from, to }) => expression.slice(from, to)).filter((name) => name !== 'le')
  }
  const names = all(root, 'VectorSelector').map((one) => one.getChild('Identifier')!)
  return names.flatMap(({ from, to }) => SERIES.get(expression.slice(from, to)) ?? [])
}

export function seriesIn(expression: string): readonly string[] {
  const names = all(parser.parse(expression).topNode, 'VectorSelector').map(
    (one) => one.getChild('Identifier')!,
  )
  return names.map(({ from, to }) => expression.slice(from, to))
}

function unknownValues(label: string, literal: string): readonly string[] {
  const known = VALUES[label as Label]
  if (known === undefined) return []
  const given = literal.slice(1, -1).split('|')
  return given.filter((value) => !known.includes(value)).map((value) => `no ${label} ${value}`)
}

/** The labels by which the aggregations around a node group. */
function groupsAround(node: SyntaxNode): readonly SyntaxNode[] {
  const groups: SyntaxNode[] = []
  for (let around = node.parent; around !== null; around = around.parent) {
    const modifier = around.name === 'AggregateExpr' ? around.getChild('AggregateModifier') : null
    if (modifier !== null) groups.push(modifier)
  }
  return groups
}

function all(node: SyntaxNode, name: string): readonly SyntaxNode[] {
  const found: SyntaxNode[] = []
  node.cursor().iterate((each) => {
    if (each.name === name) found.push(each.node)
  })
  return found
}
