import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { type EditorState, StateEffect, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

export interface CodeMirror {
  setSource(source: string): void
  /** Marks that line, from 1, and scrolls to it. Undefined: none. */
  mark(line: number | undefined): void
  focus(): void
}

/**
 * The editor in a shadow root of `host`. There its styles are constructed style sheets, which the page's policy allows; in the document they would be
 * style elements, which it forbids.
 */
export function openCodeMirror(
  host: HTMLElement,
  { source, onSource, onPlay }: { source: string; onSource: (source: string) => void; onPlay: () => void },
): CodeMirror {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const play = {
    key: 'Mod-Enter',
    run: () => {
      onPlay()
      return true
    },
  }
  const view = new EditorView({
    doc: source,
    parent: root,
    root,
    extensions: [
      // Tab is not among the keys: it leaves the editor, as it leaves every other field.
      keymap.of([play, ...defaultKeymap, ...historyKeymap]),
      ...[history(), lineNumbers(), indentOnInput(), bracketMatching(), marked, theme],
      ...[javascript({ typescript: true }), syntaxHighlighting(colours)],
      EditorView.contentAttributes.of({ 'aria-label': 'Code in TypeScript', tabindex: '0' }),
      typedOver,
      EditorView.contentAttributes.compute([marked], (state) => ({
        'aria-invalid': String(state.field(marked).size > 0),
      })),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) onSource(state.doc.toString())
      }),
    ],
  })
  return {
    setSource(next) {
      if (next === view.state.doc.toString()) return
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } })
    },
    mark(line) {
      const at = line === undefined ? undefined : startOf(view.state, line)
      const scroll = at === undefined ? [] : [EditorView.scrollIntoView(at, { y: 'center' })]
      view.dispatch({ effects: [setMark.of(at), ...scroll] })
    },
    focus: () => view.focus(),
  }
}

/** Text typed over a selection. The browser would keep the looks of what was there in style attributes, which the page's policy forbids and reports. */
const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data } = event
    if (inputType !== 'insertText' || data === null || view.state.selection.main.empty) return false
    event.preventDefault()
    view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type' })
    return true
  },
})

const setMark = StateEffect.define<number | undefined>()
const wrong = Decoration.line({ class: 'wrong' })

/** The line of the mistake, which moves with the text. */
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, { changes, effects }) {
    const set = effects.findLast((effect) => effect.is(setMark))
    if (set === undefined) return before.map(changes)
    return set.value === undefined ? Decoration.none : Decoration.set([wrong.range(set.value)])
  },
  provide: (field) => EditorView.decorations.from(field),
})

function startOf({ doc }: EditorState, line: number): number {
  return doc.line(Math.min(Math.max(line, 1), doc.lines)).from
}

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', background: 'var(--surface)' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: 'var(--t-small)', lineHeight: '18px' },
  '.cm-content': { caretColor: 'var(--ink)', padding: 'var(--2) 0' },
  '.cm-gutters': { color: 'var(--ink-3)', background: 'var(--surface)', border: 'none' },
  '.cm-line.wrong': {
    background: 'color-mix(in srgb, var(--s-failed) var(--tint), transparent)',
    boxShadow: 'inset 3px 0 var(--s-failed)',
  },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--selected)' },
  '&.cm-focused .cm-nonmatchingBracket': { background: 'none' },
})

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--s-waiting)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--s-completed)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--s-undoing)' },
  { tag: tags.function(tags.variableName), color: 'var(--s-ready)' },
  { tag: tags.function(tags.propertyName), color: 'var(--s-ready)' },
  { tag: tags.typeName, color: 'var(--s-undone)' },
  { tag: tags.comment, color: 'var(--ink-3)', fontStyle: 'italic' },
])
