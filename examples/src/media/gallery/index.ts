import { readdir } from 'node:fs/promises'
import { photograph } from './camera.ts'
import { contactSheet } from './contact-sheet.ts'
import { Files, type LedgerLine } from './files.ts'
import { jpegOf, readJpeg, resizeTo } from './image.ts'
import { heightOf, type Photo, type Picture, type Size, WIDTHS } from './picture.ts'
import { inTurn } from './turns.ts'

export { heightOf, type Photo, type Picture, WIDTHS } from './picture.ts'

/** A gallery that may not go online as it is. Trying again would not help. */
export class CreditMissingError extends Error {
  override readonly name = 'CreditMissingError'
}

/** Galleries of photographs, as files in a folder. They do not know Belay. Every operation may be repeated. */
export class Galleries {
  readonly #files: Files
  readonly #originals: Files

  /** Storing a picture takes at least `latencyMs`. */
  constructor(folder: string, { latencyMs = 0 } = {}) {
    this.#files = new Files(folder, { latencyMs })
    this.#originals = new Files(folder)
  }

  /** Takes photographs that were not taken yet, and returns their names. */
  async takePhotos(count: number): Promise<readonly string[]> {
    const names = Array.from({ length: count }, (_, index) => `photo-${String(index + 1).padStart(2, '0')}`)
    for (const [number, name] of names.entries()) {
      await this.#originals.writeOnce(original(name), () => inTurn(() => jpegOf(photograph(number))))
    }
    return names
  }

  /** Writes a photograph in another size. */
  async resize(gallery: string, { photo, width }: Size): Promise<Picture> {
    const file = pictureFile(gallery, { photo, width })
    await this.#files.writeOnce(file, async () => {
      const bytes = await this.#originals.read(original(photo))
      return inTurn(async () => jpegOf(resizeTo(await readJpeg(bytes), width)))
    })
    return { photo, width, file }
  }

  /** Puts the smallest pictures side by side. */
  async makeContactSheet(gallery: string, pictures: readonly Picture[]): Promise<string> {
    const file = contactSheetFile(gallery)
    const smallest = pictures.filter(({ width }) => width === WIDTHS.at(-1))
    await this.#files.writeOnce(file, async () => {
      const bytes = await Promise.all(smallest.map((picture) => this.#files.read(picture.file)))
      return inTurn(async () => contactSheet(await Promise.all(bytes.map(readJpeg))))
    })
    return file
  }

  /** Makes the page with which a gallery goes online. Throws {@link CreditMissingError}. */
  async publish(gallery: string, photos: readonly Photo[]): Promise<string> {
    const missing = photos.find(({ credit }) => credit === undefined)
    if (missing !== undefined) {
      throw new CreditMissingError(`${missing.name} does not say who took it, and may not be shown`)
    }
    const file = `${gallery}/index.html`
    await this.#files.writeOnce(file, async () => page(photos))
    return file
  }

  remove(file: string): Promise<void> {
    return this.#files.remove(file)
  }

  /** What happened to the files of a gallery, oldest first. */
  ledger(gallery: string): Promise<readonly LedgerLine[]> {
    return this.#files.ledger(gallery)
  }

  /** The names of a gallery's files, sorted. */
  async list(gallery: string): Promise<readonly string[]> {
    const names = await readdir(this.#files.pathOf(gallery)).catch(() => [])
    return names.sort()
  }

  /** The size of a picture, as its file says. */
  async measure(file: string): Promise<readonly [width: number, height: number]> {
    const { width, height } = await readJpeg(await this.#files.read(file))
    return [width, height]
  }

  pathOf(file: string): string {
    return this.#files.pathOf(file)
  }

  /** Deletes all galleries, photographs and the ledger. */
  clear(): Promise<void> {
    return this.#files.clear()
  }
}

export function pictureFile(gallery: string, { photo, width }: Size): string {
  return `${gallery}/${photo}-${width}.jpg`
}

export function contactSheetFile(gallery: string): string {
  return `${gallery}/contact-sheet.jpg`
}

function original(photo: string): string {
  return `originals/${photo}.jpg`
}

function page(photos: readonly Photo[]): string {
  const [widest] = WIDTHS
  const figures = photos.map(
    ({ name, credit }) =>
      `<figure><img src="${name}-${widest}.jpg" alt="${name}" height="${heightOf(widest)}">${credit}</figure>`,
  )
  return `<!doctype html>\n<title>Gallery</title>\n<img src="contact-sheet.jpg" alt="all">\n${figures.join('\n')}\n`
}
