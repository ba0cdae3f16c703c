import { useLayoutEffect, useRef } from 'preact/hooks'
import { SCREENS } from './screens.ts'
import { keys } from './settings.ts'

/** By key: `j`, `?`, `Escape`, two letters that are pressed one after the other (`g r`), or `Ctrl+k`. */
export type Bindings = Readonly<Record<string, () => void>>

const layers: { current: Bindings }[] = []
const CHORD_MS = 1_500
let begun: { readonly key: string; readonly at: number } | undefined

/** Binds keys while the component is shown. Of two that bind the same key, the one that was shown last has it. */
export function useKeys(bindings: Bindings): void {
  const layer = useRef(bindings)
  layer.current = bindings
  // Not after the next frame: whoever sees the rows may press j, and the first press would be lost.
  useLayoutEffect(() => {
    layers.push(layer)
    return () => void layers.splice(layers.indexOf(layer), 1)
  }, [])
}

/** One listener for the page. Letters are left alone inside inputs and dialogs, and when they are switched off. */
export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return
    const isCommand = event.ctrlKey || event.metaKey
    if (!isCommand && (isTyping(event.target) || document.querySelector('dialog[open]'))) return
    if (!isCommand && keys.get() === 'off' && event.key !== 'Escape') return
    const name = isCommand ? `Ctrl+${event.key.toLowerCase()}` : nameOf(event)
    const bound = layers.findLast(({ current }) => name in current)?.current[name]
    if (bound === undefined) return
    event.preventDefault()
    bound()
  })
}

function nameOf({ key, timeStamp }: KeyboardEvent): string {
  const first = begun !== undefined && timeStamp - begun.at < CHORD_MS ? begun.key : undefined
  begun = first === undefined && key === 'g' ? { key, at: timeStamp } : undefined
  return first === undefined ? key : `${first} ${key}`
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
}

/** For the dialog that shows them. */
export const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'Search or jump'],
  ['/', 'Filter the runs'],
  ['+  -  0', 'Zoom the graph of a run, or fit it'],
  ['j  k', 'Next or previous run'],
  ['Enter', 'Open the run'],
  ['Space', 'Peek at the run'],
  ['x', 'Select the run'],
  ['a', 'Act on the selected runs'],
  ['n', 'Show newer runs'],
  ['[  ]', 'Newer or older page'],
  ['Esc', 'Close, or leave the filter'],
  ...SCREENS.map(({ key, name }) => [`g ${key}`, `Go to ${name}`] as const),
  ['p', 'Pause, or go on reading'],
  ['?', 'Show the keys'],
]
