import { participleOf } from '@belay/graph-view'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { Link } from 'wouter'
import type { Repair, RepairActionRequest } from '../../../src/api/many.ts'
import { Answer, Blank, downSince } from '../answer.tsx'
import { isNotFound } from '../api.ts'
import { Reason } from '../ask-dialog.tsx'
import { useLive } from '../live.ts'
import { Problem } from '../outcome.tsx'
import { termsOf, textOf } from '../runs/filter.ts'
import { useCell } from '../stored.ts'
import { counted, figure, fullInstant, instant } from '../words.ts'
import { write } from '../write.ts'
import { addressOf, goOf, titleOf } from './asked.ts'
import { Links, Refusals } from './refusals.tsx'
import { Step } from './step.tsx'

/** A repair as the server has it: the same for all who look, also after a reload. */
export function OneRepair({ id }: { readonly id: string }) {
  const live = useLive<Repair>(`repairs/${id}`)
  if (isNotFound(live.error)) {
    return (
      <Blank state="pending" title="This repair is not known here">
        <p>{live.error.message}</p>
      </Blank>
    )
  }
  return <Answer of={live}>{(repair: Repair) => <Steps repair={repair} />}</Answer>
}

function Steps({ repair }: { readonly repair: Repair }) {
  const { asked, state, refusals, begun } = repair
  const isCounted = state !== 'counting' && !(begun === undefined && state !== 'counted')
  const { act, problem, isBusy } = useAct(repair.id)
  const given = { repair, act, isBusy }
  return (
    <>
      <p class="sr" role="status">
        {announced(repair)}
      </p>
      <ol class="repair-steps">
        <Step number={1} title="Which runs, and what to do" state="done">
          <p>
            <b>{titleOf(asked)}</b> <Which repair={repair} />
          </p>
          {/* More ids make an address that servers refuse. */}
          {(asked.runs?.length ?? 0) <= 100 && (
            <Link class="button" href={addressOf(asked)}>
              Change it, or count again
            </Link>
          )}
        </Step>
        <Counted {...given} isCounted={isCounted} />
        <Step
          number={3}
          title={isCounted && refusals.length === 0 ? 'Nothing is refused' : 'Refused, each with its reason'}
          state={isCounted ? 'done' : 'off'}
        >
          <Refusals repair={repair} />
        </Step>
        <Begin {...given} problem={problem} />
      </ol>
    </>
  )
}

function Which({ repair: { asked } }: { readonly repair: Repair }) {
  const { query, runs } = asked
  if (runs !== undefined) return <>{counted(runs.length, 'chosen run')}</>
  return query === undefined ? <>all runs that it is for</> : <code>{textOf(termsOf(query))}</code>
}

interface ActProps {
  readonly repair: Repair
  readonly act: (request: RepairActionRequest) => Promise<void>
  readonly isBusy: boolean
}

function useAct(id: string) {
  const client = useQueryClient()
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const act = async (request: RepairActionRequest) => {
    setBusy(true)
    setProblem(undefined)
    try {
      client.setQueryData([`repairs/${id}`], await write<Repair>(`repairs/${id}/actions`, request))
    } catch (error) {
      setProblem((error as Error).message)
    }
    setBusy(false)
  }
  return { act, problem, isBusy }
}

/** Often enough to know how it goes: a screen reader is not interrupted for each run. */
function announced({ state, sentence, done, found }: Repair): string {
  if (state !== 'working') return state === 'counting' ? 'The dry run is under way.' : sentence
  const quarters = Math.floor(((done?.matched ?? 0) / Math.max(1, found.changed)) * 4)
  return quarters === 0 ? 'The change has begun.' : `${quarters * 25} % are done.`
}

function Counted({ repair, act, isBusy, isCounted }: ActProps & { readonly isCounted: boolean }) {
  const { asked, state, found, by, at, more, sentence, begun } = repair
  const { matched, changed, refused, unknown } = found
  const same = matched - changed - refused
  const isCounting = state === 'counting'
  const figures: readonly (readonly [number, string, string?])[] = [
    [matched, 'match'],
    [changed, `would be ${participleOf(asked)}`],
    [refused, 'would be refused', refused > 0 ? 's-failed strong' : ''],
    ...(same > 0 ? [[same, 'have nothing to change'] as const] : []),
    ...(unknown > 0 ? [[unknown, 'do not exist'] as const] : []),
  ]
  return (
    <Step number={2} title={isCounting ? 'Counting' : 'Counted'} state={isCounting ? 'now' : 'done'}>
      <p class="weak">
        by {by}, <time title={fullInstant(at)}>{instant(at, Date.now())}</time>
      </p>
      <dl class="figures">
        {figures.map(([count, what, looks = '']) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd class={looks}>{figure(count)}</dd>
          </div>
        ))}
      </dl>
      {more && isCounted && (
        <p>More runs match than these, the newest. Once they are done, count again for the others.</p>
      )}
      {isCounting && <Stop act={act} isBusy={isBusy} denied={repair.denied} />}
      {!isCounted && !isCounting && <p>{sentence}</p>}
      {begun === undefined && repair.runs.length > 0 && (
        <details>
          <summary>Which ones</summary>
          <Links runs={repair.runs} of={changed} />
        </details>
      )}
    </Step>
  )
}

function Stop({ act, isBusy, denied }: Pick<ActProps, 'act' | 'isBusy'> & { readonly denied: boolean }) {
  return (
    <button
      type="button"
      class="button"
      disabled={isBusy || denied}
      onClick={() => void act({ action: 'stop' })}
    >
      Stop
    </button>
  )
}

/** Why, and do it. */
function Begin({ repair, act, isBusy, problem }: ActProps & { readonly problem: string | undefined }) {
  const { state, begun, found, others, denied, asked } = repair
  const [reason, setReason] = useState('')
  const isDown = useCell(downSince) !== undefined
  const mayBegin = state === 'counted' && found.changed > 0 && !denied
  const begin = (event: Event) => {
    event.preventDefault()
    void act({ action: 'begin', reason: reason.trim() })
  }
  return (
    <>
      <Step number={4} title="Why" state={begun ? 'done' : mayBegin ? 'now' : 'off'}>
        {begun && <p>{begun.reason}</p>}
        {begun && (
          <p class="weak">
            {begun.by}, <time title={fullInstant(begun.at)}>{instant(begun.at, Date.now())}</time>
          </p>
        )}
        {asked.verb === 'skipCompensation' && (
          <p>Marking calls nobody: the effects stay in the world. Say where they were settled.</p>
        )}
        {mayBegin && (
          <form id="begin" class="repair-why" onSubmit={begin}>
            <Reason reason={reason} onReason={setReason}>
              Reason, kept in the history of {found.changed === 1 ? 'the run' : 'all these runs'}
            </Reason>
          </form>
        )}
      </Step>
      <Step
        number={5}
        title="Do it"
        state={begun && state !== 'working' ? 'done' : mayBegin || begun ? 'now' : 'off'}
      >
        {denied && state === 'counted' && (
          <p>You lack the capability for it: somebody who has it may begin.</p>
        )}
        {state === 'counted' && found.changed === 0 && <p>There is nothing to change.</p>}
        {others.map(({ id, sentence }) => (
          <p key={id}>
            {sentence} <Link href={`/repairs/${id}`}>See that repair</Link>
          </p>
        ))}
        <Problem of={problem} />
        {mayBegin && (
          <button
            type="submit"
            form="begin"
            class="button main"
            disabled={isBusy || isDown || others.length > 0 || reason.trim() === ''}
          >
            {goOf(asked, found.changed)}
          </button>
        )}
        {begun && <Change repair={repair} act={act} isBusy={isBusy} />}
      </Step>
    </>
  )
}

/** How far it is, or how it ended. */
function Change({ repair, act, isBusy }: ActProps) {
  const { state, done, found, sentence, runs, denied } = repair
  const matched = done?.matched ?? 0
  return (
    <>
      <p class="row">
        <progress aria-label="Progress" max={Math.max(1, found.changed)} value={matched} />
        <b>
          {figure(matched)} of {figure(found.changed)}
        </b>
        {state === 'working' && <Stop act={act} isBusy={isBusy} denied={denied} />}
      </p>
      {state !== 'working' && <p>{sentence}</p>}
      {state !== 'working' && <Links runs={runs} of={done?.changed ?? 0} />}
    </>
  )
}
