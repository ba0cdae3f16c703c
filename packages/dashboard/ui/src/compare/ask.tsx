import { useQuery } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter'
import type { RunsPage } from '../../../src/api.ts'
import { read } from '../api.ts'
import { AskDialog } from '../ask-dialog.tsx'
import { age, nameOf } from '../words.ts'

export function addressOfPair(a: string, b: string): string {
  return `/compare?${new URLSearchParams({ a, b })}`
}

/** Asks for the runs that the address does not name. */
export function AskForRuns({ a, b }: { readonly a: string; readonly b: string }) {
  const [names, setNames] = useState({ a, b })
  const [, navigate] = useLocation()
  const submit = (event: Event) => {
    event.preventDefault()
    if (names.a.trim() !== '' && names.b.trim() !== '')
      navigate(addressOfPair(names.a.trim(), names.b.trim()))
  }
  return (
    <form class="repair-verb ask-for-runs" onSubmit={submit}>
      {(['a', 'b'] as const).map((letter) => (
        <label key={letter}>
          Run {letter.toUpperCase()}: its key, workflow/key, or id
          <input
            value={names[letter]}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setNames({ ...names, [letter]: event.currentTarget.value })}
          />
        </label>
      ))}
      <button type="submit" class="button main">
        Compare
      </button>
    </form>
  )
}

/** A run's way to the comparison: with the newest completed run of its workflow, or with any by its name. */
export function CompareDialog({
  run: { id, workflow },
  onClose,
}: {
  readonly run: { readonly id: string; readonly workflow: string }
  readonly onClose: () => void
}) {
  const [name, setName] = useState('')
  const [, navigate] = useLocation()
  const query = new URLSearchParams({ workflow, status: 'completed', limit: '2' })
  const { data } = useQuery({
    queryKey: ['completed', workflow],
    queryFn: ({ signal }) => read<RunsPage>(`runs?${query}`, signal),
  })
  const newest = data?.runs.find((run) => run.id !== id)
  return (
    <AskDialog
      title="Compare with another run"
      class="narrow"
      go="Compare"
      isReady
      leave="Cancel"
      onGo={() => name.trim() !== '' && navigate(addressOfPair(id, name.trim()))}
      onClose={onClose}
    >
      {newest && (
        <p class="row">
          <button type="button" class="button" onClick={() => navigate(addressOfPair(id, newest.id))}>
            {nameOf(newest)}
          </button>
          <span class="weak">
            the newest that completed, {age(data!.readAt - (newest.finishedAt ?? newest.createdAt))} ago
          </span>
        </p>
      )}
      {data && !newest && <p class="weak">No other run of {workflow} has completed.</p>}
      <label>
        Or by its key, workflow/key, or id
        <input
          value={name}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
    </AskDialog>
  )
}
