// Colours of scales and of gates, as pictures of the library have them; `tests/explorer/test_drawing.py` compares.

/** Cividis in 32 steps. */
export const CIVIDIS = steps(
  "002554002b62003070123570213b6e2d416d36466c3f4c6c47516c4f576c565c6d5e626e6568706c6d72727374797977807f78888578908b78" +
    "9791779f9775a79d73afa471b8aa6ec0b16ac8b866d1bf61dac65be2cd54ebd44bf5dc41fee434",
);

const FEW_GATES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"];
// Viridis from step 51 to 230 of 256.
const VIRIDIS = steps(
  "4144874045884046883f47883f48893e49893e4a893e4c8a3d4d8a3d4e8a3c4f8a3c508b3b518b3b528b3a538b3a548c39558c39568c38588c" +
    "38598c375a8c375b8d365c8d365d8d355e8d355f8d34608d34618d33628d33638d32648e32658e31668e31678e31688e30698e306a8e2f6b8e" +
    "2f6c8e2e6d8e2e6e8e2e6f8e2d708e2d718e2c718e2c728e2c738e2b748e2b758e2a768e2a778e2a788e29798e297a8e297b8e287c8e287d8e" +
    "277e8e277f8e27808e26818e26828e26828e25838e25848e25858e24868e24878e23888e23898e238a8d228b8d228c8d228d8d218e8d218f8d" +
    "21908d21918c20928c20928c20938c1f948c1f958b1f968b1f978b1f988b1f998a1f9a8a1e9b8a1e9c891e9d891f9e891f9f881fa0881fa188" +
    "1fa1871fa28720a38620a48621a58521a68522a78522a88423a98324aa8325ab8225ac8226ad8127ad8128ae8029af7f2ab07f2cb17e2db27d" +
    "2eb37c2fb47c31b57b32b67a34b67935b77937b87838b9773aba763bbb753dbc743fbc7340bd7242be7144bf7046c06f48c16e4ac16d4cc26c" +
    "4ec36b50c46a52c56954c56856c66758c7655ac8645cc8635ec96260ca6063cb5f65cb5e67cc5c69cd5b6ccd5a6ece5870cf5773d05675d054" +
    "77d1537ad1517cd2507fd34e81d34d84d44b86d54989d5488bd6468ed64590d74393d74195d84098d83e9bd93c9dd93ba0da39a2da37a5db36" +
    "a8db34aadc32addc30b0dd2fb2dd2db5de2bb8de29bade28bddf26",
);

/**
 * Return one colour per gate, from the first to the last.
 * @param {number} number
 * @returns {string[]}
 */
export function gateColours(number) {
  if (number <= FEW_GATES.length) return FEW_GATES.slice(0, number);
  return Array.from({ length: number }, (_, gate) => VIRIDIS[Math.floor(256 * (0.2 + (0.7 * gate) / (number - 1))) - 51]);
}

/** Return red, green and blue, 0 to 255, of a colour written as #rrggbb. */
export function channels(colour) {
  return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
}

/** Return a colour mixed with white; share 1 is the colour itself. */
export function tint(colour, share) {
  return hex(channels(colour).map((part) => 255 * (share * (part / 255) + 1 - share)));
}

/** Write red, green and blue, 0 to 255, as #rrggbb. */
export function hex(parts) {
  return `#${parts.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

function steps(text) {
  return text.match(/.{6}/g).map((digits) => `#${digits}`);
}
