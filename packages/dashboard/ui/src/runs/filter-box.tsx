import { useRef } from 'preact/hooks'
import { Icon } from '../icons.tsx'
import { useKeys } from '../keys.ts'
import { isRunStatus, wordOf } from '../status.ts'
import { fullInstant } from '../words.ts'
import { type Term, textOf, without } from './filter.ts'

interface FilterBoxProps {
  readonly terms: readonly Term[]
  readonly filterBy: (terms: readonly Term[]) => void
  /** Adds what was typed to those terms. */
  readonly apply: (text: string, kept: readonly Term[]) => void
  readonly text: string
  readonly setText: (text: string) => void
  /** Why the server does not take the filter. */
  readonly problem?: string | undefined
}

const EXAMPLE = 'workflow:fulfil-order status:failed key:order:91* tag:tenant:7 since:7d, or a run’s id'

/** One box for both ways to write a filter: chips, and text. Backspace in the empty box makes the last chip text again. */
export function FilterBox({ terms, filterBy, apply, text, setText, problem }: FilterBoxProps) {
  const input = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => input.current?.focus() })
  const asText = () => {
    filterBy([])
    setText(textOf(terms))
    input.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') input.current?.blur()
    if (event.key !== 'Backspace' || text !== '' || terms.length === 0) return
    event.preventDefault()
    setText(textOf(terms.slice(-1)))
    filterBy(terms.slice(0, -1))
  }
  const onSubmit = (event: Event) => {
    event.preventDefault()
    apply(text, terms)
    setText('')
  }
  return (
    <form class={problem === undefined ? 'filter' : 'filter wrong'} aria-label="Filter" onSubmit={onSubmit}>
      <Icon name="lens" />
      {terms.map((term) => (
        <Chip
          key={`${term.field}:${term.value}`}
          term={term}
          onRemove={() => filterBy(without(terms, term))}
        />
      ))}
      <input
        ref={input}
        type="text"
        aria-label="Filter the runs"
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : 'filter-problem'}
        autocomplete="off"
        spellcheck={false}
        placeholder={terms.length === 0 ? EXAMPLE : ''}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {terms.length > 0 && (
        <button type="button" class="quiet wide" onClick={asText}>
          Edit as text
        </button>
      )}
      <Wrong problem={problem} />
    </form>
  )
}

function Wrong({ problem }: { readonly problem: string | undefined }) {
  if (problem === undefined) return null
  return (
    <p id="filter-problem" role="alert">
      {problem}
    </p>
  )
}

function Chip({ term, onRemove }: { readonly term: Term; readonly onRemove: () => void }) {
  const shown = shownOf(term)
  return (
    <span class="chip">
      <span>{term.field}</span> <b>{shown}</b>
      <button type="button" aria-label={`Remove ${term.field} ${shown}`} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </span>
  )
}

/** An instant as a date, a status as its word; all else as it was typed. */
function shownOf({ field, value }: Term): string {
  if (field === 'status')
    return isRunStatus(value) ? wordOf(value).toLowerCase() : value.replaceAll(/[_-]/g, ' ')
  if ((field === 'since' || field === 'until') && /^\d{12,}$/.test(value)) return fullInstant(Number(value))
  return value
}
