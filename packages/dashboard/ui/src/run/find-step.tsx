import { useState } from 'preact/hooks'
import { figure } from '../words.ts'

/** From so many steps on, there is a box to find one by its name. */
const FIND_FROM = 30

/** Whether a name has that text in it. */
export function isFound(name: string, text: string): boolean {
  return name.toLowerCase().includes(text.trim().toLowerCase())
}

/** A box for a part of a step's name. Enter leads to the next one, Shift and Enter to the one before. */
export function FindStep({
  names,
  onText,
  onFound,
}: {
  readonly names: readonly string[]
  readonly onText?: (text: string) => void
  readonly onFound?: (name: string) => void
}) {
  const [text, setText] = useState('')
  const [place, setPlace] = useState(-1)
  if (names.length < FIND_FROM) return null
  const found = text.trim() === '' ? [] : names.filter((name) => isFound(name, text))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || onFound === undefined || found.length === 0) return
    const next =
      (place + (event.shiftKey ? found.length - 1 : 1) + (place < 0 && event.shiftKey ? 1 : 0)) % found.length
    setPlace(next)
    onFound(found[next]!)
  }
  const type = (typed: string) => {
    setText(typed)
    setPlace(-1)
    onText?.(typed)
  }
  const count = place < 0 ? figure(found.length) : `${figure(place + 1)} of ${figure(found.length)}`
  return (
    <label class="find-step">
      <span class="sr">Find a step</span>
      <input
        type="search"
        placeholder="Find a step"
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class="weak" role="status">
        {text.trim() !== '' && count}
      </span>
    </label>
  )
}
