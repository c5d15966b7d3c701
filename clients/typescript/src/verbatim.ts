/**
 * Decodes originals losslessly.
 *
 * A text that has come out of JSON escapes can hold lone surrogates, half of a character. UTF-8 has no form for them,
 * so originals carry each as the three bytes it would have; a JavaScript string can hold them again.
 */

/** The text of a whole number of characters. */
export function decodeVerbatim(bytes: Uint8Array): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  let start = 0;
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    const [second, third] = [bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
    if (second >= 0xa0 && second <= 0xbf && third >= 0x80 && third <= 0xbf) {
      const half = String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | (third & 0x3f));
      text += decoder.decode(bytes.subarray(start, at)) + half;
      start = at + 3;
    }
  }
  return text + decoder.decode(bytes.subarray(start));
}
