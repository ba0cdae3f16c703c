import { type GlyphState, glyphOf } from '@belay/graph-view'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'wouter'
import type { RunLink, RunPage, RunsPage } from '../../../src/api.ts'
import { read } from '../api.ts'
import { Dialog } from '../dialog.tsx'
import { Glyph } from '../glyph.tsx'
import { ID } from '../runs/filter.ts'
import { useNamedViews } from '../runs/saved-views.tsx'
import { SCREENS } from '../screens.ts'
import { wordOf } from '../status.ts'
import { nameOf } from '../words.ts'

interface Hit {
  readonly to: string
  readonly name: string
  readonly about: string
  readonly state?: GlyphState
}

const PLACES: readonly Hit[] = [
  ...SCREENS.map(({ to, name }) => ({ to, name, about: 'screen' })),
  { to: '/runs?status=failed', name: 'Failed runs', about: 'view' },
]

/** Leads to screens by their name, and to runs by their key or the first digits of their id. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const [chosen, choose] = useState(0)
  const [, navigate] = useLocation()
  const hits = useHits(text.trim())
  const go = (hit: Hit | undefined) => {
    if (hit === undefined) return
    navigate(hit.to)
    onClose()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: hits.length - 1 }[event.key]
    if (by !== undefined) choose((chosen + by) % Math.max(1, hits.length))
    else if (event.key === 'Enter') go(hits[chosen])
    else return
    event.preventDefault()
  }
  const onInput = (value: string) => {
    setText(value)
    choose(0)
  }
  return (
    <Dialog label="Search or jump" class="palette" onClose={onClose}>
      <SearchBox
        text={text}
        active={hits.length > 0 ? `hit-${chosen}` : undefined}
        onInput={onInput}
        onKeyDown={onKeyDown}
      />
      <Hits hits={hits} chosen={chosen} go={go} />
      <p class="weak">
        <kbd>↑</kbd> <kbd>↓</kbd> choose <kbd>Enter</kbd> open <kbd>Esc</kbd> close
      </p>
    </Dialog>
  )
}

interface SearchBoxProps {
  readonly text: string
  readonly active: string | undefined
  readonly onInput: (text: string) => void
  readonly onKeyDown: (event: KeyboardEvent) => void
}

function SearchBox({ text, active, onInput, onKeyDown }: SearchBoxProps) {
  return (
    <input
      // The dialog was opened to type.
      // biome-ignore lint/a11y/noAutofocus: a dialog focuses what is to be used first.
      autoFocus
      type="text"
      role="combobox"
      aria-label="A run’s key, the first digits of its id, or a screen"
      aria-expanded="true"
      aria-controls="hits"
      aria-autocomplete="list"
      aria-activedescendant={active}
      placeholder="A run’s key, the first digits of its id, or a screen"
      value={text}
      onInput={(event) => onInput(event.currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  )
}

interface HitsProps {
  readonly hits: readonly Hit[]
  readonly chosen: number
  readonly go: (hit: Hit) => void
}

function Hits({ hits, chosen, go }: HitsProps) {
  return (
    <div id="hits" role="listbox" aria-label="Found">
      {hits.length === 0 && (
        <div role="option" aria-selected="false" aria-disabled="true" tabIndex={-1} class="weak">
          Nothing has this name.
        </div>
      )}
      {hits.map((hit, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard's way is in the box above.
        <div
          key={`${hit.to} ${hit.name}`}
          id={`hit-${index}`}
          role="option"
          aria-selected={index === chosen}
          tabIndex={-1}
          onClick={() => go(hit)}
        >
          {hit.state && <Glyph state={hit.state} />}
          {hit.name}
          <small>{hit.about}</small>
        </div>
      ))}
    </div>
  )
}

const TYPING_MS = 150

function useHits(text: string): readonly Hit[] {
  const [asked, ask] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => ask(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  const { data } = useQuery({
    queryKey: ['palette', asked],
    queryFn: ({ signal }) => runsNamed(asked, signal),
    enabled: asked.length > 1,
  })
  const named = useNamedViews().map(({ name, query }) => ({ to: `/runs?${query}`, name, about: 'view' }))
  const screens = [...PLACES, ...named].filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
  return [...(asked.length > 1 ? (data ?? []) : []), ...screens]
}

async function runsNamed(text: string, signal: AbortSignal): Promise<readonly Hit[]> {
  // A name that no run has would be an error of the network in the browser's console, with each letter typed: only ids are asked for by name.
  const answers = await Promise.allSettled([
    read<RunsPage>(`runs?${new URLSearchParams({ key: text, limit: '6' })}`, signal).then(({ runs }) => runs),
    ...(ID.test(text) ? [read<RunPage>(`runs/${text}`, signal).then(({ run }) => [run])] : []),
  ])
  const found = answers.flatMap<RunLink>((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const byId = new Map(found.map((run) => [run.id, run]))
  return [...byId.values()].map((run) => ({
    to: `/runs/${run.id}`,
    name: nameOf(run),
    about: `${run.workflow}, ${wordOf(run.status).toLowerCase()}`,
    state: glyphOf(run.status),
  }))
}
