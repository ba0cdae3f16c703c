import { useState } from 'preact/hooks'

/** Does what the reader asks for, and keeps why it was refused until the reader asks again. */
export function useAsked() {
  const [refusal, setRefusal] = useState<string>()
  const ask = async (doIt: () => unknown): Promise<void> => {
    setRefusal(undefined)
    try {
      await doIt()
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error))
    }
  }
  return { refusal, ask }
}

/** Stands where it was asked for. */
export function Refusal({ of: text }: { readonly of: string | undefined }) {
  if (text === undefined) return null
  return (
    <p class="refusal s-failed" role="alert">
      {text}
    </p>
  )
}
