"""Checks that the pages of trees and of ensembles share."""

CONTRASTS = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
        .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = rgba(getComputedStyle(at).backgroundColor);
            if (colour[3] > 0.9) return colour;
        }
        return [255, 255, 255, 1];
    };
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement, style = getComputedStyle(element);
        if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
        if (["SCRIPT", "STYLE", "NOSCRIPT", "OPTION"].includes(element.tagName)) continue;
        const text = rgba(element.ownerSVGElement ? style.fill : style.color);
        const [one, other] = [light(text), light(behind(element))].sort((a, b) => b - a);
        const size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 600;
        const needed = size >= 24 || (bold && size >= 18.66) ? 3 : 4.5;
        const contrast = (one + 0.05) / (other + 0.05);
        if (contrast < needed) found.push([element.className, walker.currentNode.data, contrast]);
    }
    return found;
}"""
"""Returns the texts whose contrast to what is behind them is too small to be read."""
