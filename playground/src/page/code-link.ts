import { PRESETS, type Preset } from '../presets/index.ts'

/** What a link says. It stands behind the `#`, which browsers do not send to any server. */
export interface Linked {
  readonly preset: Preset
  /** Undefined: the preset's own. */
  readonly source: string | undefined
}

/** More than any workflow that somebody would read. */
const SOURCE_MAX = 200_000

/** `preset=undo`, and `code=…` if it is not the preset's own. */
export async function fragmentOf({ name, code }: Preset, source: string): Promise<string> {
  return source === code ? `#preset=${name}` : `#preset=${name}&code=${await packed(source)}`
}

/** Undefined if there is nothing behind the `#`. Rejects with what is wrong with it. */
export async function readFragment(fragment: string): Promise<Linked | undefined> {
  const given = new URLSearchParams(fragment.replace(/^#/, ''))
  const [name, code] = [given.get('preset'), given.get('code')]
  if (name === null && code === null) return undefined
  const preset = PRESETS.find((one) => one.name === (name ?? PRESETS[0].name))
  if (preset === undefined) throw new Error(`There is no example "${name}".`)
  return { preset, source: code === null ? undefined : await unpacked(code) }
}

async function packed(source: string): Promise<string> {
  const stream = new Blob([source]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer())
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

async function unpacked(code: string): Promise<string> {
  try {
    const text = atob(code.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(text, (char) => char.charCodeAt(0))
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
    const decoder = new TextDecoder('utf-8', { fatal: true })
    let source = ''
    for await (const chunk of stream) {
      source += decoder.decode(chunk, { stream: true })
      if (source.length > SOURCE_MAX) throw new Error('It is too long.')
    }
    return source + decoder.decode()
  } catch (cause) {
    throw new Error('The code in this link cannot be read: was the link cut off?', { cause })
  }
}
