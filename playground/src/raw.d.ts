/** The text of a file, put there by the build. */
declare module '*?raw' {
  const text: string
  export default text
}
