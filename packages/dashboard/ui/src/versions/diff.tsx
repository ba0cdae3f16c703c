import { type GraphChange, type GraphStep, type UnionNote, type UnitedStep, unite } from '@belay/graph-view'
import { useMemo } from 'preact/hooks'
import { Link, useLocation, useSearch } from 'wouter'
import type { StoredVersion, VersionsDiff } from '../../../src/api/versions.ts'
import { Answer, Blank } from '../answer.tsx'
import { isNotFound } from '../api.ts'
import { UnionGraph } from '../compare/union-graph.tsx'
import { Lines } from '../lines.tsx'
import { useLive } from '../live.ts'
import { counted, fullInstant, instant } from '../words.ts'
import { Move } from './move.tsx'
import { LiveRuns, Workers } from './version.tsx'

/** What differs between two versions of a workflow, and how runs get from one to the other. */
export function Diff({ workflow }: { readonly workflow: string }) {
  const search = useSearch()
  const diff = useLive<VersionsDiff>(`versions/${encodeURIComponent(workflow)}${search && `?${search}`}`)
  const all = (
    <p class="back">
      <Link class="run-link" href="/versions">
        All workflows
      </Link>
    </p>
  )
  if (isNotFound(diff.error)) {
    return (
      <Blank state="pending" title="There is no such workflow or version">
        <p class="anywhere">{workflow}</p>
        {all}
      </Blank>
    )
  }
  return (
    <>
      {all}
      <Answer of={diff}>{(answer: VersionsDiff) => <Page diff={answer} />}</Answer>
    </>
  )
}

function Page({ diff }: { readonly diff: VersionsDiff }) {
  const { name, from, to } = diff
  const steps = useMemo(() => unite(from?.steps ?? to.steps, to.steps), [from?.steps, to.steps])
  const names = [`v${(from ?? to).version}`, `v${to.version}`] as const
  return (
    <>
      <h1 class="anywhere">{name}</h1>
      {from === undefined ? (
        <p class="run-why">Only v{to.version} is stored: there is nothing to compare it with.</p>
      ) : (
        <p class="run-why">{summaryOf(steps, names)}</p>
      )}
      <Chosen diff={diff} />
      {from && <Move diff={{ ...diff, from }} removed={stepsThat(steps, 'removed')} />}
      <UnionGraph
        steps={steps}
        noteOf={noteOf}
        names={names}
        label={`Graphs of ${name} ${names.join(' and ')}`}
      />
      {from && <Changes steps={steps} names={names} />}
      <p class="legend weak">
        Compared are the graphs: steps, their kinds, dependencies and undo. Belay stores no handlers, so what
        the code of a step does is not compared.
      </p>
    </>
  )
}

function stepsThat(steps: readonly UnitedStep[], change: GraphChange): readonly string[] {
  return steps.flatMap(({ name, changes }) => (changes.includes(change) ? name : []))
}

function summaryOf(steps: readonly UnitedStep[], [first, second]: readonly [string, string]): string {
  const [added, removed] = [stepsThat(steps, 'added').length, stepsThat(steps, 'removed').length]
  const changed = steps.filter(({ changes }) => changes.length > 0).length - added - removed
  if (added + removed + changed === 0) return `${first} and ${second} have the same graph.`
  return `Since ${first}, ${second} has ${counted(added, 'step')} more, lacks ${removed}, and changed ${changed}.`
}

function noteOf({ before, after, changes }: UnitedStep): UnionNote {
  const { kind, compensate } = (after ?? before)!
  const isWhole = changes.includes('added') || changes.includes('removed')
  const mark = isWhole ? (changes[0] as 'added' | 'removed') : changes.length > 0 ? 'changed' : undefined
  return {
    mark,
    lines: [
      { text: [kind, UNDO[compensate]].join(', ') },
      { text: mark === 'changed' ? `changed: ${changes.join(', ')}` : (mark ?? '') },
    ],
  }
}

const UNDO: Readonly<Record<GraphStep['compensate'], string>> = {
  never: 'no undo',
  completed: 'has an undo',
  started: 'undo once started',
}

/** Which two are compared: the address says it. */
function Chosen({ diff }: { readonly diff: VersionsDiff }) {
  const { name, versions, from, to, stored } = diff
  const [, navigate] = useLocation()
  const go = (first: number, second: number) =>
    navigate(`/versions/${encodeURIComponent(name)}?from=${first}&to=${second}`, { replace: true })
  return (
    <div class="version-pair">
      {from && <Version diff={diff} label="From" of={from} choose={(one) => go(one, to.version)} />}
      <Version diff={diff} label="To" of={to} choose={(one) => go(from?.version ?? one, one)} />
      {stored > versions.length && (
        <p class="weak">
          The newest {versions.length} of {stored} versions can be chosen.
        </p>
      )}
    </div>
  )
}

interface VersionProps {
  readonly diff: VersionsDiff
  readonly label: string
  readonly of: StoredVersion
  readonly choose: (version: number) => void
}

function Version({ diff: { name, versions, readAt }, label, of, choose }: VersionProps) {
  // An old one may stand in the address without being among the newest.
  const offered = versions.some(({ version }) => version === of.version) ? versions : [of, ...versions]
  return (
    <div class="repair-verb">
      <label>
        {label}
        <select value={of.version} onChange={(event) => choose(Number(event.currentTarget.value))}>
          {offered.map(({ version }) => (
            <option key={version} value={version}>
              v{version}
            </option>
          ))}
        </select>
      </label>
      <p>
        <LiveRuns workflow={name} version={of} />
        <br />
        <span class="weak">
          stored <time title={fullInstant(of.createdAt)}>{instant(of.createdAt, readAt)}</time>,{' '}
          <Workers version={of} />
        </span>
      </p>
    </div>
  )
}

/** The same as the picture, for whoever reads tables: the steps that differ. */
function Changes({
  steps,
  names,
}: {
  readonly steps: readonly UnitedStep[]
  readonly names: readonly [string, string]
}) {
  const changed = steps.filter(({ changes }) => changes.length > 0)
  if (changed.length === 0) return null
  return (
    <Lines caption="Steps that differ" columns={['Step', 'What', names[0], names[1]]}>
      {changed.flatMap(({ name, before, after, changes }) =>
        changes.map((change) => (
          <tr key={`${name} ${change}`}>
            <td class="wrap">
              <b>{name}</b>
            </td>
            <td>{change}</td>
            <td class="wrap" data-label={names[0]}>
              {toldOf(before, change)}
            </td>
            <td class="wrap" data-label={names[1]}>
              {toldOf(after, change)}
            </td>
          </tr>
        )),
      )}
    </Lines>
  )
}

function toldOf(step: GraphStep | undefined, change: GraphChange): string {
  if (step === undefined) return 'has no such step'
  const after = step.dependsOn.length === 0 ? 'depends on none' : `after ${step.dependsOn.join(', ')}`
  switch (change) {
    case 'added':
    case 'removed':
      return [step.kind, after, UNDO[step.compensate]].join(', ')
    case 'kind':
      return step.kind
    case 'dependencies':
      return after
    case 'undo':
      return UNDO[step.compensate]
    case 'pivot':
    case 'irreversible':
      return step[change] ? 'yes' : 'no'
  }
}
