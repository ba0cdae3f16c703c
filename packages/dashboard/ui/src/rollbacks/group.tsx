import { useState } from 'preact/hooks'
import { Link } from 'wouter'
import type { ParkedExample, ParkedGroup } from '../../../src/api/parked.ts'
import { CAPABILITY_OF } from '../../../src/capabilities.ts'
import { MayButton } from '../may-button.tsx'
import { useAsk } from '../repairs/new.tsx'
import { VERBS as WORDS } from '../run/verbs.ts'
import { Strip } from '../strip.tsx'
import { age, counted, figure, fullInstant, instant, nameOf } from '../words.ts'
import { bulkWords, VERBS, type Verb } from './verbs.ts'

interface GroupProps {
  readonly group: ParkedGroup
  /** By the store's clock. */
  readonly now: number
  readonly isFirst: boolean
  readonly act: (verb: Verb, example: ParkedExample) => void
}

/** What failed, in how many runs and since when; and what repairs them all. */
export function Group({ group, now, isFirst, act }: GroupProps) {
  const { workflow, version, step, error, undos, since } = group
  // The group may change its place: what somebody opened or closed stays so.
  const [isOpen] = useState(isFirst)
  return (
    <li class="cause">
      <header>
        <div class="grow">
          <h2>
            {step}{' '}
            <span class="weak">
              of {workflow} v{version}
            </span>
          </h2>
          <p class="cause-error">{error}</p>
        </div>
        <Bars figures={group.times} />
        <p class="cause-count">
          <b>{figure(undos)}</b>
          <span class="weak">
            since <time title={fullInstant(since)}>{instant(since, now)}</time>
          </span>
        </p>
        <ForAll group={group} isFirst={isFirst} />
      </header>
      <details open={isOpen}>
        <summary>{inWords(group)}</summary>
        <Examples group={group} now={now} act={act} />
      </details>
    </li>
  )
}

function inWords({ remain, attempts: [least, most], runs }: ParkedGroup): string {
  const tried = least === most ? times(most) : `${least} to ${times(most)}`
  const stay = `${counted(remain, 'effect')} ${remain === 1 ? 'stays' : 'stay'} in the world`
  const each = runs.length === 1 ? '' : ' in each'
  return `${stay}, in ${counted(runs.length, 'run')}. The undo was tried ${tried}${each}.`
}

function times(count: number): string {
  return count === 1 ? 'once' : counted(count, 'time')
}

/** Of the error in the label of a button, which tells groups of one step apart. */
const LABEL_MAX = 80

/** What a repair of all its runs would be, and where it is counted. */
function ForAll({ group, isFirst }: Pick<GroupProps, 'group' | 'isFirst'>) {
  const { workflow, version, step, error, runs, repairs } = group
  const { ask, problem, isBusy } = useAsk()
  if (repairs === undefined) {
    return (
      <p class="cause-all weak">
        These are different items of one map. A repair of many runs takes one item, so settle them one at a
        time.
      </p>
    )
  }
  return (
    <div class="cause-all">
      <p class="row">
        {VERBS.map((verb) => (
          <MayButton
            key={verb}
            capability={CAPABILITY_OF[verb]}
            class={isFirst && verb === 'retryCompensation' ? 'button main' : 'button'}
            label={`${bulkWords(verb, group)} ${step} of ${workflow} v${version}: ${error.slice(0, LABEL_MAX)}`}
            onClick={() => {
              // A second press would ask for a second repair.
              if (!isBusy) void ask({ verb, runs, step: repairs })
            }}
          >
            {bulkWords(verb, group)}
          </MayButton>
        ))}
      </p>
      <p class="weak">Marking calls nobody: the effect stays.</p>
      {problem && (
        <p class="outcome refused" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

function Examples({
  group: { workflow, version, step, examples, undos, last },
  now,
  act,
}: Omit<GroupProps, 'isFirst'>) {
  const query = new URLSearchParams({ workflow, version: String(version), status: 'compensation_failed' })
  return (
    <>
      <table class="lines">
        <caption class="sr">The newest of this group</caption>
        <thead>
          <tr>
            <th>Run</th>
            <th>Steps</th>
            <th>Parked</th>
            <th>In the world</th>
            <th>
              <span class="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {examples.map((example) => (
            <Row
              key={`${example.id} ${example.step}`}
              example={example}
              now={now}
              act={act}
              isItem={example.step !== step}
            />
          ))}
        </tbody>
      </table>
      <p>
        {undos > examples.length && (
          <span class="weak">
            These are {examples.length} of {figure(undos)}, of the newest runs. The last was parked{' '}
            <time title={fullInstant(last)}>{instant(last, now)}</time>.{' '}
          </span>
        )}
        <Link class="run-link" href={`/runs?${query}`}>
          All parked runs of {workflow} v{version}
        </Link>
      </p>
    </>
  )
}

function Row({
  example,
  now,
  act,
  isItem,
}: Pick<GroupProps, 'now' | 'act'> & { readonly example: ParkedExample; readonly isItem: boolean }) {
  const { id, step, since, remain, steps } = example
  return (
    <tr>
      <td class="wrap">
        <Link class="run-link" href={`/runs/${id}`} title={id}>
          {nameOf(example)}
        </Link>{' '}
        {isItem && <span class="weak">{step}</span>}
      </td>
      <td>
        <Strip steps={steps} quiet={false} />
      </td>
      <td>
        <time title={fullInstant(since)}>{instant(since, now)}</time>{' '}
        <span class="weak">for {age(now - since)}</span>
      </td>
      <td>{counted(remain, 'effect')}</td>
      <td class="last">
        {VERBS.map((verb) => (
          <MayButton
            key={verb}
            capability={CAPABILITY_OF[verb]}
            label={`${WORDS[verb].button}… ${step} of ${nameOf(example)}`}
            onClick={() => act(verb, example)}
          >
            {WORDS[verb].button}…
          </MayButton>
        ))}
      </td>
    </tr>
  )
}

const BAR = 5
const HEIGHT = 26

/** How many when, in equal parts of the time until now. What it says in words stands beside it. */
function Bars({ figures }: { readonly figures: readonly number[] }) {
  const most = Math.max(1, ...figures)
  const bars = figures.map((figure, index) => {
    const height = figure === 0 ? 1 : Math.max(3, Math.round((figure / most) * HEIGHT))
    return `M${index * BAR} ${HEIGHT}v-${height}h${BAR - 2}v${height}z`
  })
  return (
    <svg class="bars s-parked" viewBox={`0 0 ${figures.length * BAR} ${HEIGHT}`} aria-hidden="true">
      <path d={bars.join('')} />
    </svg>
  )
}
