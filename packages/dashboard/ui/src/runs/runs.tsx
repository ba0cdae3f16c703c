import { useEffect, useState } from 'preact/hooks'
import { Link, useLocation, useSearch } from 'wouter'
import type { RunsPage } from '../../../src/api.ts'
import { Answer, Blank } from '../answer.tsx'
import { isBadRequest } from '../api.ts'
import { useKeys } from '../keys.ts'
import { addressOf } from '../repairs/asked.ts'
import { Counts } from './counts.tsx'
import { parse, searchOf, type Term, termsOf, united } from './filter.ts'
import { FilterBox } from './filter-box.tsx'
import { useRunsPage } from './page.ts'
import { Pager } from './pager.tsx'
import { Peek } from './peek.tsx'
import { type Selection, SelectionBar, useSelection } from './selection.tsx'
import { PAGE, type Picture } from './settle.ts'
import { Table } from './table.tsx'
import { Views } from './views.tsx'

/** The list of runs. Its filter and its page are the query of its address. */
export function Runs() {
  const search = useSearch()
  const terms = termsOf(search)
  const query = searchOf(terms)
  const [, navigate] = useLocation()
  const [edit, setEdit] = useState<string>()
  const cursor = cursorOf(search)
  const page = useRunsPage([query, cursor && `${cursor.side}=${cursor.id}`].filter(Boolean).join('&'))
  const problem = isBadRequest(page.error) ? page.error.message : undefined
  const filterBy = (next: readonly Term[]) =>
    navigate(`/runs${next.length === 0 ? '' : `?${searchOf(next)}`}`)
  const apply = (text: string, kept: readonly Term[]) => {
    const { terms: added, id } = parse(text)
    if (id !== undefined) navigate(`/runs/${id}`)
    else filterBy(united(kept, added))
  }
  return (
    <>
      <div class="head">
        <h1>Runs</h1>
        <Views query={query} />
        <Link class="button aside" href={addressOf({ query })}>
          Repair many…
        </Link>
      </div>
      <FilterBox {...{ terms, filterBy, apply, problem }} text={edit ?? ''} setText={setEdit} />
      <Counts terms={terms} filterBy={filterBy} />
      {problem === undefined && <Listed key={search} query={query} cursor={cursor} page={page} />}
    </>
  )
}

function cursorOf(search: string): { readonly side: 'before' | 'after'; readonly id: string } | undefined {
  const query = new URLSearchParams(search)
  const side = query.has('before') ? 'before' : 'after'
  const id = query.get(side)
  return id ? { side, id } : undefined
}

interface ListedProps {
  readonly query: string
  readonly cursor: ReturnType<typeof cursorOf>
  readonly page: ReturnType<typeof useRunsPage>
}

function Listed({ query, cursor, page }: ListedProps) {
  const [, navigate] = useLocation()
  const [peeked, peek] = useState<string>()
  const selection = useSelection()
  const isNewest = cursor?.side === 'after' && page.data !== undefined && page.data.runs.length < PAGE
  // Nothing newer is left: from here on the list follows what comes.
  useEffect(() => {
    if (isNewest) navigate(`/runs${query && `?${query}`}`, { replace: true })
  }, [isNewest])
  const leave =
    peeked !== undefined ? () => peek(undefined) : selection.ids.size > 0 ? selection.clear : undefined
  useKeys({ n: page.show, ...(leave && { Escape: leave }) })
  return (
    <Answer of={page}>
      {(answer: RunsPage) => (
        <div class={peeked === undefined ? 'split' : 'split open'}>
          <List
            picture={page.picture!}
            answer={answer}
            show={page.show}
            query={query}
            cursor={cursor}
            peeked={peeked}
            peek={peek}
            selection={selection}
          />
          {peeked !== undefined && <Peek key={peeked} id={peeked} onClose={() => peek(undefined)} />}
        </div>
      )}
    </Answer>
  )
}

interface ListProps extends Omit<ListedProps, 'page'> {
  readonly picture: Picture
  readonly answer: RunsPage
  readonly show: () => void
  readonly peeked: string | undefined
  readonly peek: (id: string | undefined) => void
  readonly selection: Selection
}

function List({ picture, answer, show, query, cursor, peeked, peek, selection }: ListProps) {
  if (picture.runs.length === 0) return <Nothing isFiltered={query !== '' || cursor !== undefined} />
  return (
    <div class="grow">
      {picture.waiting > 0 && cursor === undefined && (
        <button type="button" class="newer" onClick={show}>
          {picture.waiting >= PAGE ? `${PAGE} or more` : picture.waiting} newer{' '}
          {picture.waiting === 1 ? 'run' : 'runs'}. Show them <kbd>n</kbd>
        </button>
      )}
      <SelectionBar selection={selection} query={query} />
      <Table picture={picture} now={answer.readAt} peeked={peeked} peek={peek} selection={selection} />
      <Pager
        query={query}
        newer={cursor && picture.runs[0]!.id}
        older={
          answer.more || cursor?.side === 'after' || answer.runs.length > PAGE
            ? picture.runs.at(-1)!.id
            : undefined
        }
      />
    </div>
  )
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Blank state="pending" title="No run matches">
      <p>Take a condition out of the filter, or look further back.</p>
    </Blank>
  ) : (
    <Blank state="pending" title="No run has been started yet">
      <p>Start one with the engine, and it stands here within two seconds.</p>
    </Blank>
  )
}
