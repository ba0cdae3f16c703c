/** Offers a text as a file. */
export function save(name: string, text: string, type = 'image/svg+xml'): void {
  offer(name, `data:${type};charset=utf-8,${encodeURIComponent(text)}`)
}

/** Offers a drawing as a picture, at twice its size. */
export function savePicture(name: string, svg: string): void {
  const image = new Image()
  image.onload = () => {
    const canvas = document.createElement('canvas')
    canvas.width = image.naturalWidth * 2
    canvas.height = image.naturalHeight * 2
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    offer(name, canvas.toDataURL('image/png'))
  }
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
}

function offer(name: string, href: string): void {
  const link = document.createElement('a')
  link.download = name.replaceAll(/[^\w.-]+/g, '-')
  link.href = href
  link.click()
}
