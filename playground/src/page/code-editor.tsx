import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { CodeMirror } from './code-mirror.ts'

interface Editing {
  readonly source: string
  /** Changes when the source changes other than by typing. */
  readonly given: number
  /** The line to mark, from 1. */
  readonly wrong: number | undefined
  readonly onSource: (source: string) => void
  readonly onPlay: () => void
}

/** A field for the code: at first a plain one, then, in the same place, CodeMirror. If that cannot be loaded, the plain one stays. */
export function CodeEditor(editing: Editing) {
  const host = useRef<HTMLDivElement>(null)
  const plain = useRef<HTMLTextAreaElement>(null)
  const editor = useCodeMirror(host, plain, editing)
  const { source, onSource, onPlay } = editing
  return (
    <div class="editor">
      <div ref={host} hidden={editor === undefined} />
      {editor === undefined && (
        <textarea
          ref={plain}
          aria-label="Code in TypeScript"
          spellcheck={false}
          value={source}
          onInput={({ currentTarget }) => onSource(currentTarget.value)}
          onKeyDown={({ key, ctrlKey, metaKey }) => {
            if (key === 'Enter' && (ctrlKey || metaKey)) onPlay()
          }}
        />
      )}
    </div>
  )
}

/** CodeMirror in `host`, once it is loaded. It takes the focus over from the plain field. */
function useCodeMirror(
  host: { readonly current: HTMLDivElement | null },
  plain: { readonly current: HTMLTextAreaElement | null },
  editing: Editing,
): CodeMirror | undefined {
  const newest = useRef(editing)
  newest.current = editing
  const hadFocus = useRef(false)
  const [editor, setEditor] = useState<CodeMirror>()
  const open = ({ openCodeMirror }: typeof import('./code-mirror.ts')) => {
    hadFocus.current = document.activeElement === plain.current
    const opened = openCodeMirror(host.current!, {
      source: newest.current.source,
      onSource: (next) => newest.current.onSource(next),
      onPlay: () => newest.current.onPlay(),
    })
    setEditor(opened)
  }
  useEffect(() => {
    import('./code-mirror.ts').then(open, () => {})
  }, [])
  // Only once it is shown: what is hidden takes no focus.
  useLayoutEffect(() => {
    if (hadFocus.current) editor?.focus()
  }, [editor])
  const { given, wrong } = editing
  // Not at each change of the source: that comes later than the typing from which it comes.
  useEffect(() => editor?.setSource(newest.current.source), [editor, given])
  useEffect(() => editor?.mark(wrong), [editor, wrong])
  return editor
}
