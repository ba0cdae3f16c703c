import { useState } from 'preact/hooks'
import type { Session } from '../../../src/api.ts'
import type { NamedView } from '../../../src/named-view.ts'
import { DialogButtons } from '../ask-dialog.tsx'
import { Dialog } from '../dialog.tsx'
import { useLive } from '../live.ts'
import { storedJson, useCell } from '../stored.ts'
import { termsOf, textOf } from './filter.ts'

const SAVED_MAX = 50
const NAME_MAX = 60

/** Views that this browser keeps, by name. */
const saved = storedJson<readonly NamedView[]>('views', (kept) =>
  (Array.isArray(kept) ? kept : []).filter(isView).slice(0, SAVED_MAX),
)

function isView(kept: unknown): kept is NamedView {
  const { name, query } = Object(kept) as Partial<Record<keyof NamedView, unknown>>
  return typeof name === 'string' && typeof query === 'string'
}

/** Those that the host names for all, then those of this browser. */
export function useNamedViews(): readonly NamedView[] {
  const { data } = useLive<Session>('session')
  return [...(data?.views ?? []), ...useCell(saved)]
}

/** Keeps the filter by a name, and renames or removes what was kept. */
export function SaveView({ query }: { readonly query: string }) {
  const views = useCell(saved)
  const [isOpen, open] = useState(false)
  if (query === '' && views.length === 0) return null
  return (
    <>
      <button type="button" class="quiet save-view" onClick={() => open(true)}>
        {query === '' ? 'Saved views…' : 'Save this view…'}
      </button>
      {isOpen && <ViewsDialog query={query} views={views} onClose={() => open(false)} />}
    </>
  )
}

function ViewsDialog({
  query,
  views,
  onClose,
}: {
  readonly query: string
  readonly views: readonly NamedView[]
  readonly onClose: () => void
}) {
  const [name, setName] = useState('')
  const given = name.trim()
  const submit = (event: Event) => {
    event.preventDefault()
    if (given === '') return
    // A name that is used again takes the new filter.
    saved.set([...views.filter((view) => view.name !== given), { name: given, query }].slice(-SAVED_MAX))
    onClose()
  }
  return (
    <Dialog label="Saved views" class="narrow" onClose={onClose}>
      {query !== '' && (
        <>
          <h2>Save this view</h2>
          <p class="weak anywhere">{textOf(termsOf(query))}</p>
          <form onSubmit={submit}>
            <label>
              Name
              <input
                value={name}
                maxLength={NAME_MAX}
                autocomplete="off"
                onInput={(event) => setName(event.currentTarget.value)}
              />
            </label>
            <DialogButtons
              go={views.some((view) => view.name === given) ? 'Replace it' : 'Save it'}
              isReady={given !== ''}
              leave="Cancel"
            />
          </form>
        </>
      )}
      {views.length > 0 && <Kept views={views} />}
      <p class="weak">This browser alone keeps them. The address of a view is for others.</p>
    </Dialog>
  )
}

function Kept({ views }: { readonly views: readonly NamedView[] }) {
  const rename = (view: NamedView, input: HTMLInputElement) => {
    const name = input.value.trim()
    const isTaken = views.some((other) => other !== view && other.name === name)
    if (name === '' || isTaken) input.value = view.name
    else saved.set(views.map((other) => (other === view ? { ...view, name } : other)))
  }
  return (
    <>
      <h2>Saved here</h2>
      <ul class="saved-views">
        {views.map((view, index) => (
          <li key={index}>
            <input
              aria-label={`Name of ${view.name}`}
              value={view.name}
              maxLength={NAME_MAX}
              // Not with each letter.
              onBlur={(event) => rename(view, event.currentTarget)}
            />
            <button
              type="button"
              class="button"
              aria-label={`Remove ${view.name}`}
              onClick={() => saved.set(views.filter((other) => other !== view))}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}
