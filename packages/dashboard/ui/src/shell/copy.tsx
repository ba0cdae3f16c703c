import { useState } from 'preact/hooks'

/** Copies a text, and says so. */
export function Copy({ text, of }: { readonly text: string; readonly of: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <>
      <button
        type="button"
        class="button"
        aria-label={`${isCopied ? 'Copied' : 'Copy'} ${of}`}
        onClick={copy}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
      <span role="status" class="sr">
        {isCopied ? 'Copied.' : ''}
      </span>
    </>
  )
}
