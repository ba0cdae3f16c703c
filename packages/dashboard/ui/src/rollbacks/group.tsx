import { useState } from 'preact/hooks'
import { Link } from 'wouter'
import type { ParkedExample, ParkedGroup } from '../../../src/api/parked.ts'
import { CAPABILITY_OF } from '../../../src/capabilities.ts'
import { Spark } from '../health/spark.tsx'
import { MayButton } from '../may-button.tsx'
import { Problem } from '../outcome.tsx'
import { useAsk } from '../repairs/new.tsx'
import { VERBS as WORDS } from '../run/verbs.ts'
import { Strip } from '../strip.tsx'
import { counted, figure, fullInstant, instant, nameOf } from '../words.ts'

const VERBS = ['retryCompensation', 'skipCompensation'] as const
export type Act = (verb: (typeof VERBS)[number], example: ParkedExample) => void

interface GroupProps {
  readonly group: ParkedGroup
  /** By the store's clock. */
  readonly now: number
  readonly isFirst: boolean
  readonly act: Act
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
        <Spark figures={group.times} looks="s-parked" />
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
  const tried = least === most ? counted(most, 'time') : `${least} to ${counted(most, 'time')}`
  const each = runs.length === 1 ? '' : ' in each'
  return `Still in the world: ${counted(remain, 'effect')} of ${counted(runs.length, 'run')}. The undo was tried ${tried}${each}.`
}

/** Of the error in the label of a button, which tells groups of one step apart. */
const LABEL_MAX = 80

/** What a repair of all its runs would be, and where it is counted. */
function ForAll({ group, isFirst }: Pick<GroupProps, 'group' | 'isFirst'>) {
  const { workflow, version, step, error, runs, repairs } = group
  const { ask, problem, isBusy } = useAsk()
  if (repairs === undefined)
    return (
      <p class="cause-all weak">
        Different items of one map: a repair of many runs takes one item, so settle them one at a time.
      </p>
    )
  const button = (verb: (typeof VERBS)[number], words: string) => (
    <MayButton
      capability={CAPABILITY_OF[verb]}
      class={isFirst && verb === 'retryCompensation' ? 'button main' : 'button'}
      label={`${words} ${step} of ${workflow} v${version}: ${error.slice(0, LABEL_MAX)}`}
      // A second press would ask for a second repair.
      onClick={() => void (isBusy || ask({ verb, runs, step: repairs }))}
    >
      {words}
    </MayButton>
  )
  return (
    <div class="cause-all">
      <p class="row">
        {button('retryCompensation', `Retry ${figure(runs.length)}…`)}
        {button('skipCompensation', `Mark ${figure(runs.length)} as undone…`)}
      </p>
      <p class="weak">Marking calls nobody: the effect stays.</p>
      <Problem of={problem} />
    </div>
  )
}

function Examples({ group, now, act }: Omit<GroupProps, 'isFirst'>) {
  const { workflow, version, step, examples, undos, last } = group
  const query = new URLSearchParams({ workflow, version: String(version), status: 'compensation_failed' })
  return (
    <>
      <ul>
        {examples.map((one) => (
          <li key={`${one.id} ${one.step}`} class="parked">
            <span class="who">
              <Link class="run-link" href={`/runs/${one.id}`} title={one.id}>
                {nameOf(one)}
              </Link>{' '}
              {one.step !== step && <span class="weak">{one.step}</span>}
            </span>
            <Strip steps={one.steps} quiet={false} />
            <span>
              parked <time title={fullInstant(one.since)}>{instant(one.since, now)}</time>,{' '}
              {counted(one.remain, 'effect')} in the world
            </span>
            <span class="row">
              {VERBS.map((verb) => (
                <MayButton
                  key={verb}
                  capability={CAPABILITY_OF[verb]}
                  label={`${WORDS[verb].button}… ${one.step} of ${nameOf(one)}`}
                  onClick={() => act(verb, one)}
                >
                  {WORDS[verb].button}…
                </MayButton>
              ))}
            </span>
          </li>
        ))}
      </ul>
      <p>
        <span class="weak">
          {undos > examples.length && `These are ${examples.length} of ${figure(undos)}. `}The last was parked{' '}
          <time title={fullInstant(last)}>{instant(last, now)}</time>.{' '}
        </span>
        <Link class="run-link" href={`/runs?${query}`}>
          All parked runs of {workflow} v{version}
        </Link>
      </p>
    </>
  )
}
