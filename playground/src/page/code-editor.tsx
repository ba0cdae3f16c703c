import { useEffect, useRef, useState } from 'preact/hooks'
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
export function CodeEditor({ source, given, wrong, onSource, onPlay }: Editing) {
  const host = useRef<HTMLDivElement>(null)
  const plain = useRef<HTMLTextAreaElement>(null)
  const newest = useRef<Editing>({ source, given, wrong, onSource, onPlay })
  newest.current = { source, given, wrong, onSource, onPlay }
  const [editor, setEditor] = useState<CodeMirror>()

  useEffect(() => {
    let opened: CodeMirror | undefined
    let isGone = false
    import('./code-mirror.ts').then(
      ({ openCodeMirror }) => {
        if (isGone) return
        const hadFocus = document.activeElement === plain.current
        opened = openCodeMirror(host.current!, {
          source: newest.current.source,
          onSource: (next) => newest.current.onSource(next),
          onPlay: () => newest.current.onPlay(),
        })
        setEditor(opened)
        if (hadFocus) opened.focus()
      },
      () => {},
    )
    return () => {
      isGone = true
      opened?.close()
    }
  }, [])
  // Not at each change of `source`: that comes later than the typing from which it comes.
  useEffect(() => editor?.setSource(newest.current.source), [editor, given])
  useEffect(() => editor?.mark(wrong), [editor, wrong])

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
