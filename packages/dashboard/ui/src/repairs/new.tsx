import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter'
import type { Repair, RepairRequest } from '../../../src/api/many.ts'
import { downSince } from '../answer.tsx'
import { Problem } from '../outcome.tsx'
import { Counts } from '../runs/counts.tsx'
import { parse, searchOf, type Term, termsOf, united } from '../runs/filter.ts'
import { FilterBox } from '../runs/filter-box.tsx'
import { useCell } from '../stored.ts'
import { counted } from '../words.ts'
import { write } from '../write.ts'
import { addressOf, type Draft, draftIn, MANY } from './asked.ts'
import { Step } from './step.tsx'

/** Posts a repair, and goes to where its dry run shows. */
export function useAsk() {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const ask = async (request: RepairRequest, isNew = false) => {
    setBusy(true)
    try {
      const repair = await write<Repair>('repairs', request)
      client.setQueryData([`repairs/${repair.id}`], repair)
      // Whoever comes back finds what was asked for.
      if (isNew) navigate(addressOf(request), { replace: true })
      navigate(`/repairs/${repair.id}`)
    } catch (error) {
      setProblem((error as Error).message)
      setBusy(false)
    }
  }
  return { ask, problem, isBusy }
}

/** The first of the five steps. The others follow once it is counted. */
export function NewRepair({ search }: { readonly search: string }) {
  const [draft, setDraft] = useState<Draft>(() => draftIn(search))
  const [text, setText] = useState('')
  const [all, setAll] = useState(false)
  const isDown = useCell(downSince) !== undefined
  const { ask, problem, isBusy } = useAsk()
  const terms = termsOf(draft.query ?? '')
  const filterBy = (next: readonly Term[]) => setDraft({ ...draft, query: searchOf(next) })
  const count = () => {
    const request = requestOf({ ...draft, query: searchOf(united(terms, parse(text).terms)) }, all)
    void ask(request, true)
  }
  return (
    <ol class="repair-steps">
      <Step number={1} title="Which runs, and what to do" state="now">
        <Verb draft={draft} setDraft={setDraft} />
        {draft.runs === undefined ? (
          <>
            <FilterBox
              terms={terms}
              filterBy={filterBy}
              apply={(typed, kept) => filterBy(united(kept, parse(typed).terms))}
              text={text}
              setText={setText}
            />
            <Counts terms={terms} filterBy={filterBy} />
            {terms.length === 0 && text === '' && <All isAll={all} setAll={setAll} verb={draft.verb} />}
            {!terms.some(({ field }) => field === 'status') && (
              <p class="weak">Without a status, it is for {MANY[draft.verb].selects}.</p>
            )}
          </>
        ) : (
          <Chosen draft={draft} setDraft={setDraft} />
        )}
        <Problem of={problem} />
        <p class="row">
          <button type="button" class="button main" disabled={isBusy || isDown} onClick={count}>
            Count
          </button>
          <span class="weak">A dry run: nothing is changed.</span>
        </p>
      </Step>
      {['Counted', 'Refused, each with its reason', 'Why', 'Do it'].map((title, index) => (
        <Step key={title} number={index + 2} title={title} state="off" />
      ))}
    </ol>
  )
}

function requestOf({ verb, query, runs, asked }: Draft, all: boolean): RepairRequest {
  const { asks } = MANY[verb]
  const which = runs ? { runs } : query === '' && all ? ({ all } as const) : { query: query ?? '' }
  if (asks === undefined) return { verb, ...which }
  return { verb, ...which, [asks]: asks === 'step' ? asked.trim() : Number(asked || Number.NaN) }
}

interface DraftProps {
  readonly draft: Draft
  readonly setDraft: (draft: Draft) => void
}

const ASKS = {
  step: 'Step',
  priority: 'Priority, 0 to 1,000',
  version: 'To version',
} as const

function Verb({ draft, setDraft }: DraftProps) {
  const { asks } = MANY[draft.verb]
  return (
    <div class="repair-verb">
      <label>
        Action
        <select
          value={draft.verb}
          onChange={(event) => setDraft({ ...draft, verb: event.currentTarget.value as Draft['verb'] })}
        >
          {Object.entries(MANY).map(([verb, { name }]) => (
            <option key={verb} value={verb}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {asks && (
        <label>
          {ASKS[asks]}
          <input
            value={draft.asked}
            autocomplete="off"
            spellcheck={false}
            inputMode={asks === 'step' ? 'text' : 'numeric'}
            onInput={(event) => setDraft({ ...draft, asked: event.currentTarget.value })}
          />
        </label>
      )}
    </div>
  )
}

function Chosen({ draft, setDraft }: DraftProps) {
  const { runs: _, ...filtered } = draft
  return (
    <p class="row">
      <b>{counted(draft.runs!.length, 'chosen run')}</b>
      <button type="button" class="button" onClick={() => setDraft(filtered)}>
        Take a filter instead
      </button>
    </p>
  )
}

function All({
  isAll,
  setAll,
  verb,
}: {
  readonly isAll: boolean
  readonly setAll: (all: boolean) => void
  readonly verb: Draft['verb']
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.currentTarget.checked)} />
      Without a filter: all {MANY[verb].selects}
    </label>
  )
}
