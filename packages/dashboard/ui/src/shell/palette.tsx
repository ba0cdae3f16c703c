import { useState } from 'preact/hooks'
import { useLocation } from 'wouter'
import { Dialog } from '../dialog.tsx'
import { Glyph } from '../glyph.tsx'
import { ActionDialog } from '../run/action-dialog.tsx'
import { type Hit, useHits } from './hits.ts'

/** Finds runs by the beginning of their key or id; workflows, steps, verbs, screens and views by their name. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const [chosen, choose] = useState(0)
  const [, navigate] = useLocation()
  const hits = useHits(text.trim())
  const [acting, act] = useState<Hit['acts']>()
  const go = (hit: Hit | undefined) => {
    if (hit?.acts !== undefined) return act(hit.acts)
    if (hit?.to === undefined) return
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
  if (acting !== undefined) return <ActionDialog {...acting} onClose={onClose} />
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
      aria-label="Begin of a run’s key or id, a workflow, step, verb or screen"
      aria-expanded="true"
      aria-controls="hits"
      aria-autocomplete="list"
      aria-activedescendant={active}
      placeholder="Begin of a run’s key or id, a workflow, step, verb or screen"
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
          key={`${hit.to} ${hit.name} ${hit.about}`}
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
